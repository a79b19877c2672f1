import type { Tool } from './tool.ts';
import { getStatus } from './tools/get-status.ts';
import { listSites } from './tools/list-sites.ts';

/** Every tool, in the order in which clients show them. */
export const tools: readonly Tool[] = [getStatus, listSites];
