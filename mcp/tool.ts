import type { McpServer, ToolAnnotations } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { McpContext } from './context.ts';
import { failed, refusal, succeeded } from './result.ts';

type Definition<Input extends z.ZodObject, Output extends z.ZodObject> = {
  /** Letters of a to z and underscores. */
  name: string;
  title: string;
  /** Written for a model: when to call it, what it answers, what to do next. At most 1,024 characters. */
  description: string;
  /** All four, so that no client has to guess. */
  annotations: Required<Omit<ToolAnnotations, 'title'>>;
  input: Input;
  output: Output;
  /** Whether this session has it; every session unless given. */
  offered?(context: McpContext): boolean;
  /** @throws ApiError, whose sentence and hint go to the model */
  run(input: z.output<Input>, context: McpContext, signal: AbortSignal): Promise<z.input<Output>>;
  /** The answer in words, for clients that show no structured content. */
  text(answer: z.output<Output>, context: McpContext): string;
};

/** A tool that can be registered at a server. */
export type Tool = {
  name: string;
  readOnly: boolean;
  offered(context: McpContext): boolean;
  register(server: McpServer, context: McpContext): void;
};

/** One tool of the MCP server; one file each in tools/. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(tool: Definition<Input, Output>): Tool {
  const { name, title, description, annotations, input, output } = tool;
  return {
    name,
    readOnly: annotations.readOnlyHint,
    offered: tool.offered ?? (() => true),
    register(server, context) {
      const call = async (given: unknown, { mcpReq }: { mcpReq: { signal: AbortSignal } }) => {
        try {
          const answer = output.parse(await tool.run(parseInput(input, given), context, mcpReq.signal));
          return succeeded(answer, tool.text(answer, context));
        } catch (error) {
          // Nobody reads the answer to a call that was cancelled, and it is no fault of ours.
          if (mcpReq.signal.aborted) throw error;
          return failed(error, context);
        }
      };
      // The types of the SDK tie the callback to the very schema; `run` is tied to it by this function's own.
      server.registerTool(name, { title, description, annotations, inputSchema: shownOnly(input), outputSchema: output }, call as never);
    },
  };
}

/** @throws ApiError bad_request, which names the field */
function parseInput<Input extends z.ZodObject>(input: Input, given: unknown): z.output<Input> {
  const result = input.safeParse(given);
  if (result.success) return result.data;
  const [{ path, message }] = result.error.issues;
  throw refusal('bad_request', path.length > 0 ? `${path.join('.')}: ${message}` : message, 'Correct it and call the tool again.');
}

/** The schema as clients see it, without the check: a wrong input is answered in words of our own, and at no length of its sender's. */
function shownOnly(schema: z.ZodObject) {
  const { jsonSchema } = schema['~standard'];
  return { '~standard': { version: 1 as const, vendor: 'zod', jsonSchema, validate: (value: unknown) => ({ value }) } };
}
