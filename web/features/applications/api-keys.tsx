import { useState } from 'react';
import { useAdd } from '../../lib/use-add.ts';
import { Empty } from '../../ui/empty.tsx';
import { Failed } from '../../ui/failed.tsx';
import { Rows, RowsLoading } from '../../ui/rows.tsx';
import { ApiKeyRow } from './api-key-row.tsx';
import { GenerateKey } from './generate-key.tsx';
import { KeyUsage } from './key-usage.tsx';
import { type ApiKey, useApiKeys } from './queries.ts';
import { RevokeKey } from './revoke-key.tsx';
import { RotateKey } from './rotate-key.tsx';
import { Section } from './section.tsx';
import { Snippet } from './snippet.tsx';
import { keySnippet } from './snippets.ts';

type Open = { dialog: 'generate' } | { dialog: 'rotate' | 'usage' | 'revoke'; apiKey: ApiKey };

/** The account's API keys: active ones, and those that ended within a month. */
export function ApiKeys() {
  const query = useApiKeys();
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const generate = () => setOpen({ dialog: 'generate' });
  useAdd('key', generate);
  const keys = query.data;

  return (
    <Section title="API Keys" add="Generate Key" onAdd={generate}>
      {query.error && <Failed {...query} fallback="Your API keys could not be loaded." />}
      {!keys && !query.error && <RowsLoading what="your API keys" />}
      {keys && keys.length > 0 && (
        <Rows>
          {keys.map((apiKey) => (
            <ApiKeyRow
              key={apiKey.id}
              apiKey={apiKey}
              onRotate={() => setOpen({ dialog: 'rotate', apiKey })}
              onUsage={() => setOpen({ dialog: 'usage', apiKey })}
              onRevoke={() => setOpen({ dialog: 'revoke', apiKey })}
            />
          ))}
        </Rows>
      )}
      {keys?.length === 0 && (
        <Empty
          title="No API keys created yet"
          text="A key lets a program of yours do what you do here: list and add websites, read figures, verify tokens."
        >
          <Snippet label="with a key" code={keySnippet(location.origin, 'YOUR_API_KEY')} />
        </Empty>
      )}
      {open?.dialog === 'generate' && <GenerateKey onClose={close} />}
      {open?.dialog === 'rotate' && <RotateKey apiKey={open.apiKey} onClose={close} />}
      {open?.dialog === 'usage' && <KeyUsage apiKey={open.apiKey} onClose={close} />}
      {open?.dialog === 'revoke' && <RevokeKey apiKey={open.apiKey} onClose={close} />}
    </Section>
  );
}
