import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';

/** The delay of the first tooltip. After one was closed, the next has no delay within SKIP_DELAY_MS. */
const DELAY_MS = 700;
const SKIP_DELAY_MS = 300;
/** Long enough to move the pointer over the gap to the tooltip. */
const CLOSE_DELAY_MS = 100;
const GAP_PX = 6;

/** A description of a control, shown on hover and on keyboard focus. It does not replace the accessible name. */
export const Tooltip = ({ text, children }: { text: string; children: ReactNode }) => (
  <span data-tooltip={text} className="contents">
    {children}
  </span>
);

type Shown = { text: string; control: Element };

/** Shows the tooltip of the hovered or focused control, once in the app. Escape closes it (WCAG 2.2, 1.4.13). */
export function TooltipHost() {
  const id = useId();
  const bubble = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<Shown | null>(null);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let pending: Element | null = null;
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
      pending = null;
      if (open) closedAt = performance.now();
      open = false;
      setShown(null);
    };
    const schedule = (holder: Element | null, delay: number) => {
      if (holder === pending) return;
      clearTimeout(timer);
      pending = holder;
      if (holder) timer = setTimeout(show, delay, holder);
      else if (open) timer = setTimeout(hide, CLOSE_DELAY_MS);
    };
    const onPointerOver = ({ target, pointerType }: PointerEvent) => {
      if (pointerType !== 'mouse') return;
      if (bubble.current?.contains(target as Node)) return clearTimeout(timer);
      schedule(holderOf(target), open || performance.now() - closedAt < SKIP_DELAY_MS ? 0 : DELAY_MS);
    };
    const onFocusIn = ({ target }: FocusEvent) => {
      if (target instanceof Element && target.matches(':focus-visible')) schedule(holderOf(target), 0);
    };

    document.addEventListener('pointerover', onPointerOver);
    document.addEventListener('focusin', onFocusIn);
    for (const end of ['focusout', 'pointerdown', 'keydown', 'scroll'] as const) document.addEventListener(end, hide, true);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('pointerover', onPointerOver);
      document.removeEventListener('focusin', onFocusIn);
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
    const below = control.bottom + GAP_PX + height < innerHeight;
    element.style.left = `${left}px`;
    element.style.top = `${below ? control.bottom + GAP_PX : control.top - GAP_PX - height}px`;
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
