import { Dialog as Radix } from 'radix-ui';
import { type FormEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { errorText } from '../lib/api.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { CrossIcon } from './icons.tsx';
import { Alert } from './states.tsx';
import { toast } from './toast.tsx';

/** What had the focus before the first dialog. A dialog may replace another one. */
let opener: Element | null = null;

/**
 * A modal dialog that is open as long as it is rendered.
 * @param first gets the focus; the close button by default
 * @param stays a click outside does not close it, because its content cannot be shown again
 */
export function Dialog({
  title,
  first,
  stays = false,
  closeLabel = 'Close',
  onClose,
  children,
}: {
  title: string;
  first?: RefObject<HTMLElement | null>;
  stays?: boolean;
  closeLabel?: string;
  onClose: () => void;
  children: ReactNode;
}) {
  useState(() => {
    if (!document.activeElement?.closest('[role=dialog]')) opener = openerOf(document.activeElement);
  });
  return (
    <Radix.Root open onOpenChange={onClose}>
      <Radix.Portal>
        {/* Not Radix's overlay: that one adds a style element, which the pages' Content-Security-Policy refuses. */}
        <div className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            if (!first?.current) return;
            event.preventDefault();
            first.current.focus();
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            returnFocus();
          }}
          onInteractOutside={(event) => {
            if (stays || (event.target as Element).closest('[data-toaster]')) event.preventDefault();
          }}
          className="rise fixed inset-0 z-40 m-auto h-fit max-h-[calc(100%-2rem)] w-[calc(100%-2rem)] max-w-lg overflow-y-auto rounded-panel border border-line bg-panel p-5 shadow-raised sm:p-6"
        >
          <div className="-mt-2 -mr-2 mb-2 flex items-center justify-between gap-4">
            <Radix.Title className="text-lg font-semibold tracking-tight">{title}</Radix.Title>
            <Radix.Close
              aria-label={closeLabel}
              className="grid size-11 shrink-0 place-items-center rounded-control text-muted hover:bg-sunk hover:text-ink"
            >
              <CrossIcon />
            </Radix.Close>
          </div>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Returns what gets the focus back: for an entry of a menu, which closes, the menu's button. */
function openerOf(element: Element | null): Element | null {
  const menu = element?.closest('[role=menu]');
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : element;
}

/** Focuses the opener, or the page's heading when the opener was removed, unless a page or another dialog took the focus. */
function returnFocus() {
  if (document.activeElement && document.activeElement !== document.body) return;
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
  else document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
}

/**
 * A dialog with a form that is submitted once at a time; `children` are its fields.
 * @param action the verb on the button that submits it
 * @param changed whether there is anything to submit
 * @param failure why it failed the last time, as a sentence
 * @param labels of the other buttons, on a page in another language
 */
export function FormDialog({
  title,
  first,
  action,
  danger = false,
  changed = true,
  busy,
  failure,
  labels,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  first?: RefObject<HTMLElement | null>;
  action: string;
  danger?: boolean;
  changed?: boolean;
  busy: boolean;
  failure: string | null | false;
  labels?: { cancel: string; close: string };
  onSubmit: () => unknown;
  onClose: () => void;
  children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (changed && !busy) onSubmit();
  };
  return (
    <Dialog title={title} first={first} closeLabel={labels?.close} onClose={onClose}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        {failure && !busy && <Alert>{failure}</Alert>}
        {children}
        <DialogButtons cancel={labels?.cancel} onCancel={onClose}>
          <Button type="submit" variant={danger ? 'danger' : 'primary'} off={!changed} busy={busy}>
            {action}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}

/** Asks for confirmation before an action that cannot be undone; `children` describe it. */
export function ConfirmDialog<Input>({
  title,
  action,
  failure,
  typed: names,
  mutation,
  input,
  done,
  onDone,
  onClose,
  children,
}: {
  title: string;
  /** The verb on the button. */
  action: string;
  /** The sentence before the reason of an error. */
  failure: string;
  /** The person types one of these texts first, of which the first one is shown. */
  typed?: readonly [string, ...string[]];
  /** The action, of `useMutation`. */
  mutation: { isPending: boolean; error: unknown; mutate(input: Input, options: { onSuccess: () => void }): void };
  input: Input;
  /** The title and text of the notification afterwards. */
  done: readonly [title: string, text?: string];
  onDone?: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const { isPending, error, mutate } = mutation;
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const submit = () => {
    const isTyped = names?.some((name) => name.toLowerCase() === text.trim().toLowerCase()) ?? true;
    setFault(isTyped ? null : `Type ${names?.[0]} to confirm.`);
    if (!isTyped) return field.current?.focus();
    mutate(input, {
      onSuccess: () => {
        onClose();
        onDone?.();
        toast(...done);
      },
    });
  };
  return (
    <FormDialog
      title={title}
      first={names && field}
      action={action}
      danger
      busy={isPending}
      failure={Boolean(error) && `${failure} ${errorText(error, '')}`.trim()}
      onSubmit={submit}
      onClose={onClose}
    >
      <p className="text-muted">{children}</p>
      {names && (
        <Field
          ref={field}
          label={`Type ${names[0]} to confirm`}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={text}
          error={fault}
          onChange={({ target }) => {
            setText(target.value);
            setFault(null);
          }}
        />
      )}
    </FormDialog>
  );
}

/** The last row of a dialog: Cancel, and the button that does something. */
export const DialogButtons = ({
  cancel = 'Cancel',
  onCancel,
  children,
}: {
  cancel?: string;
  onCancel: () => void;
  children: ReactNode;
}) => (
  <div className="flex flex-wrap justify-end gap-2">
    <Button variant="secondary" onClick={onCancel}>
      {cancel}
    </Button>
    {children}
  </div>
);

/** Opens a form that the address requests, such as `?add=website`, and removes the parameter, so that a reload does not open it again. */
export function useAddParameter(name: string, open: () => void) {
  const [query, setQuery] = useSearchParams();
  const requested = query.get('add') === name;
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => {
    if (!requested) return;
    latest.current();
    setQuery(
      (query) => {
        query.delete('add');
        return query;
      },
      { replace: true },
    );
  }, [requested, setQuery]);
}
