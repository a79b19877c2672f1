import { z } from 'zod';
import { type CallName, calls } from '../contract/calls.ts';

type Schema = { type?: string; items?: Schema; properties?: Record<string, Schema>; required?: string[] };

/**
 * Returns the shape of what a call returns, as help prints it: `[{id,name}]`; `?` stands after a field that may be missing. The build
 * replaces `shapeOf('CALL')` by its result (cli/vite.config.ts), so that no command loads the schemas for it.
 * @param more a field that the command adds
 */
export const shapeOf = (name: CallName, more?: string): string =>
  textOf(z.toJSONSchema(calls[name].output, { io: 'output' }) as Schema, more);

function textOf({ items, properties = {}, required = [] }: Schema, more?: string): string {
  if (items) return `[${textOf(items, more)}]`;
  const fields = Object.entries(properties).map(([name, { items: each }]) => {
    const isOptional = required.includes(name) ? '' : '?';
    return `${name}${isOptional}${each?.properties ? `:[${textOf(each)}]` : ''}`;
  });
  return `{${[...fields, ...(more ? [more] : [])].join(',')}}`;
}
