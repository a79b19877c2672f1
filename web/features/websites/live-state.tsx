/** Whether new events appear. Screen readers announce its changes. */
export function LiveState({ paused, failed }: { paused: boolean; failed: boolean }) {
  const [tone, text] = paused ? ['bg-edge', 'Paused'] : failed ? ['bg-danger', 'Reconnecting'] : ['bg-accent', 'Live'];
  return (
    <p role="status" className="flex min-w-28 items-center gap-2 text-sm">
      <span aria-hidden="true" className={`size-2 rounded-full ${tone}`} />
      {text}
    </p>
  );
}
