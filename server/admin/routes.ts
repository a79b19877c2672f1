import { type Served, serve } from '../http/serve.ts';
import type { Admin } from './admin.ts';

export function adminRoutes(admin: Admin): Served[] {
  return [
    serve('adminSession', (_, { cookies }) => admin.session(cookies)),
    serve('adminVerify', (input, { clientAddress, cookies }) => admin.verify(input, clientAddress, cookies)),
    serve('adminLogout', (_, { cookies }) => admin.logout(cookies)),
    serve('enableAdmin', (_, { account, cookies }) => admin.enable(account, cookies)),
    serve('adminWebsites', (input) => admin.websites(input)),
    serve('adminUsers', (input) => admin.users(input)),
    serve('adminMails', (input) => admin.mails(input)),
    serve('retryMail', (input) => admin.retryMail(input)),
    serve('adminAuditLog', (input) => admin.auditLog(input)),
  ];
}
