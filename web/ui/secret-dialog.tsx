import { type ReactNode, type RefObject, useState } from 'react';
import { Button } from './button.tsx';
import { OnCopied } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';

/**
 * A dialog with a secret that is shown only once. It asks before it closes, unless the secret was copied.
 * @param what the secret is, as in `API key`
 */
export function SecretDialog({
  title,
  what,
  secret,
  first,
  onClose,
  children,
}: {
  title: string;
  what: string;
  secret: string;
  first: RefObject<HTMLElement | null>;
  onClose: () => void;
  children: ReactNode;
}) {
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const copied = (text: string) => {
    if (text.includes(secret)) setCopied(true);
  };
  const close = () => (isCopied ? onClose() : setAsking(true));
  return (
    <Dialog title={title} first={first} stays onClose={close}>
      {/* A text that is selected by hand is copied too. */}
      <div onCopy={() => copied(String(getSelection()))} className="grid gap-5">
        <OnCopied value={copied}>{children}</OnCopied>
        {isAsking && !isCopied ? (
          <div role="alert" className="rounded-control border border-danger/40 bg-danger-tint px-4 py-3 text-sm">
            <p>You have not copied the {what}, and it cannot be shown again.</p>
            <div className="mt-3 flex flex-wrap justify-end gap-2">
              <Button variant="secondary" small onClick={() => setAsking(false)}>
                Keep it open
              </Button>
              <Button variant="danger" small onClick={onClose}>
                Close without copying
              </Button>
            </div>
          </div>
        ) : (
          <Button className="justify-self-end" onClick={close}>
            Done
          </Button>
        )}
      </div>
    </Dialog>
  );
}
