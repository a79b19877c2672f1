/** Shows that something is under way; the words beside it say what. */
export function Spinner() {
  return (
    <svg aria-hidden="true" viewBox="0 0 16 16" className="spin size-4 shrink-0" fill="none" stroke="currentColor" strokeWidth="2">
      <circle cx="8" cy="8" r="6" opacity="0.25" />
      <path d="M14 8a6 6 0 0 0-6-6" strokeLinecap="round" />
    </svg>
  );
}
