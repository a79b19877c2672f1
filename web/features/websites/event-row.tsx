import { CheckIcon, CrossIcon } from '../../ui/icons.tsx';
import type { LiveEvent } from './live-events.ts';

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium' });

/** One step of a sign-in, with what to do about it. */
export function EventRow({ event, withDomain }: { event: LiveEvent; withDomain: boolean }) {
  const { at, level, text, count, email, name, fix } = event;
  const time = Date.parse(at);
  const who = [email, withDomain && name].filter(Boolean).join(' · ');
  return (
    <li className="grid gap-x-4 gap-y-0.5 px-4 py-3 sm:grid-cols-[4.5rem_1fr] sm:px-5">
      <time dateTime={at} title={exact.format(time)} className="text-sm leading-6 text-muted tabular-nums">
        {clock.format(time)}
        {!isToday(time) && <span className="text-[0.8125rem] sm:block sm:leading-4"> {day.format(time)}</span>}
      </time>
      <div className="flex min-w-0 gap-2.5">
        <Mark level={level} />
        <div className="min-w-0">
          <p className="text-[0.9375rem] leading-6">
            {level === 'problem' && <span className="sr-only">Problem: </span>}
            {text}
            {count > 1 && <span className="text-muted"> {count.toLocaleString('en')} more within a minute.</span>}
          </p>
          {fix && (
            <p className="mt-0.5 text-sm leading-6">
              <span className="font-medium">Fix:</span> {withCode(fix)}
            </p>
          )}
          {who && <p className="text-[0.8125rem] leading-5 text-muted wrap-anywhere">{who}</p>}
        </div>
      </div>
    </li>
  );
}

const isToday = (time: number) => new Date(time).toDateString() === new Date().toDateString();

function Mark({ level }: { level: LiveEvent['level'] }) {
  return (
    <span aria-hidden="true" className="grid h-6 w-4 shrink-0 place-items-center">
      {level === 'problem' && <CrossIcon className="size-4 text-danger" />}
      {level === 'success' && <CheckIcon className="size-4 text-accent" />}
      {level === 'info' && <span className="size-1.5 rounded-full bg-edge" />}
    </span>
  );
}

/** Returns a sentence with its code, in backticks, as elements. */
function withCode(sentence: string) {
  return sentence.split('`').map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change
      <code key={index} className="font-mono text-[0.8125rem]">
        {part}
      </code>
    ) : (
      part
    ),
  );
}
