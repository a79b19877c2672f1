import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';

/** Until the first tooltip, and how long after one the next needs no delay. */
const DELAY_MS = 700;
const SKIP_MS = 300;
/** So that the pointer may cross the gap to the words. */
const LEAVE_MS = 100;
const GAP = 6;

/** Says more about a control, on hover and on keyboard focus. What a control is, its own name says. */
export const Tooltip = ({ text, children }: { text: string; children: ReactNode }) => (
  <span data-tooltip={text} className="contents">
    {children}
  </span>
);

type Shown = { text: string; control: Element };

/** Shows the tooltip of whatever control is pointed at or has the focus; once in the app. Escape closes it (WCAG 2.2, 1.4.13). */
export function TooltipHost() {
  const id = useId();
  const bubble = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<Shown | null>(null);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wanted: Element | null = null;
    let open = false;
    let closedAt = Number.NEGATIVE_INFINITY;

    const show = (holder: Element) => {
      const control = holder.firstElementChild;
      if (!control?.isConnected) return;
      open = true;
      setShown({ text: holder.getAttribute('data-tooltip') ?? '', control });
    };
    const hide = () => {
      clearTimeout(timer);
      wanted = null;
      if (open) closedAt = performance.now();
      open = false;
      setShown(null);
    };
    const want = (holder: Element | null, delay: number) => {
      if (holder === wanted) return;
      clearTimeout(timer);
      wanted = holder;
      if (holder) timer = setTimeout(show, delay, holder);
      else if (open) timer = setTimeout(hide, LEAVE_MS);
    };
    const point = ({ target, pointerType }: PointerEvent) => {
      if (pointerType !== 'mouse') return;
      if (bubble.current?.contains(target as Node)) return clearTimeout(timer);
      want(holderOf(target), open || performance.now() - closedAt < SKIP_MS ? 0 : DELAY_MS);
    };
    const focus = ({ target }: FocusEvent) => {
      if (target instanceof Element && target.matches(':focus-visible')) want(holderOf(target), 0);
    };

    document.addEventListener('pointerover', point);
    document.addEventListener('focusin', focus);
    for (const end of ['focusout', 'pointerdown', 'keydown', 'scroll'] as const) document.addEventListener(end, hide, true);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('pointerover', point);
      document.removeEventListener('focusin', focus);
      for (const end of ['focusout', 'pointerdown', 'keydown', 'scroll'] as const) document.removeEventListener(end, hide, true);
    };
  }, []);

  useLayoutEffect(() => {
    const element = bubble.current;
    if (!shown || !element) return;
    // In the top layer, above an open dialog.
    element.showPopover?.();
    const control = shown.control.getBoundingClientRect();
    const { width, height } = element.getBoundingClientRect();
    const left = Math.min(Math.max(8, control.left + (control.width - width) / 2), innerWidth - width - 8);
    const below = control.bottom + GAP + height < innerHeight;
    element.style.left = `${left}px`;
    element.style.top = `${below ? control.bottom + GAP : control.top - GAP - height}px`;
    shown.control.setAttribute('aria-describedby', id);
    return () => shown.control.removeAttribute('aria-describedby');
  }, [shown, id]);

  return shown ? (
    <div
      ref={bubble}
      id={id}
      role="tooltip"
      popover="manual"
      className="fixed inset-auto z-50 m-0 max-w-64 rounded-control border-0 bg-ink px-2.5 py-1.5 text-[0.8125rem] leading-5 text-page shadow-raised"
    >
      {shown.text}
    </div>
  ) : null;
}

const holderOf = (target: EventTarget | null) => (target instanceof Element ? target.closest('[data-tooltip]') : null);
