/** A tile with the first letter of a host or an address. */
export function Initial({ text, round = false }: { text: string; round?: boolean }) {
  return (
    <span
      aria-hidden="true"
      className={`grid size-9 shrink-0 place-items-center border border-line bg-sunk text-sm font-semibold text-muted uppercase ${round ? 'rounded-full' : 'rounded-control'}`}
    >
      {Array.from(text)[0]}
    </span>
  );
}
