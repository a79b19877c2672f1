import type { Tool } from './tool.ts';
import { checkIntegration } from './tools/check-integration.ts';
import { completeLogin } from './tools/complete-login.ts';
import { deleteSite } from './tools/delete-site.ts';
import { getSite } from './tools/get-site.ts';
import { getStats } from './tools/get-stats.ts';
import { getStatus } from './tools/get-status.ts';
import { listFrameworks } from './tools/list-frameworks.ts';
import { listSites } from './tools/list-sites.ts';
import { registerDomain } from './tools/register-domain.ts';
import { scaffoldIntegration } from './tools/scaffold-integration.ts';
import { searchDocs } from './tools/search-docs.ts';
import { startLogin } from './tools/start-login.ts';
import { updateSite } from './tools/update-site.ts';
import { verifyToken } from './tools/verify-token.ts';

/** Every tool, in the order in which clients show them. */
export const tools: readonly Tool[] = [
  getStatus,
  registerDomain,
  listFrameworks,
  scaffoldIntegration,
  checkIntegration,
  verifyToken,
  searchDocs,
  startLogin,
  completeLogin,
  listSites,
  getSite,
  updateSite,
  deleteSite,
  getStats,
];
