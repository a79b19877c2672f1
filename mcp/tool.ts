import type { McpServer, ToolAnnotations } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { McpContext } from './context.ts';
import { failed, succeeded } from './result.ts';

type Definition<Input extends z.ZodObject, Output extends z.ZodObject> = {
  name: string;
  title: string;
  /** Written for a model: when to call it, what it answers, what to do next. */
  description: string;
  annotations: ToolAnnotations;
  input: Input;
  output: Output;
  /** Whether this session has it; every session unless given. */
  offered?(context: McpContext): boolean;
  /** @throws ApiError, whose sentence and hint go to the model */
  run(input: z.output<Input>, context: McpContext, signal: AbortSignal): Promise<z.input<Output>>;
  /** The answer in words, for clients that show no structured content. */
  text(answer: z.output<Output>): string;
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
    readOnly: annotations.readOnlyHint === true,
    offered: tool.offered ?? (() => true),
    register(server, context) {
      // The types of the SDK tie the callback to the very schema; `run` is tied to it by this function's own.
      const call = async (given: unknown, { mcpReq }: { mcpReq: { signal: AbortSignal } }) => {
        try {
          const answer = output.parse(await tool.run(given as z.output<Input>, context, mcpReq.signal));
          return succeeded(answer, tool.text(answer));
        } catch (error) {
          return failed(error, context);
        }
      };
      server.registerTool(name, { title, description, annotations, inputSchema: input, outputSchema: output }, call as never);
    },
  };
}
