import { ComingSoon } from './coming-soon.tsx';

/** /dashboard/analytics */
export const AnalyticsPage = () => (
  <ComingSoon
    title="Analytics"
    service="analytics"
    text="Where visitors drop out between asking for a mail and signing in, by website, language and mail provider, so that you can see what to fix."
  />
);
