/** The service's mark: a letter whose flap is a tick. */
export function Mark({ className = 'size-6' }: { className?: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 24 24" className={`shrink-0 ${className}`} fill="none">
      <rect x="1" y="3.5" width="22" height="17" rx="4" className="fill-ink" />
      <path d="m6 10.5 4.6 4.3L18.5 8" className="stroke-page" strokeWidth="2.2" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
