import { CodeBlock } from '../../ui/code-block.tsx';

/** Code in the middle of an empty list: as wide as it may be, and read from its left. */
export const Snippet = ({ label, code }: { label: string; code: string }) => (
  <div className="w-full min-w-0 max-w-xl text-left">
    <CodeBlock label={label} code={code} />
  </div>
);
