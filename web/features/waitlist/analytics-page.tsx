import { ComingSoon } from './coming-soon.tsx';

/** /dashboard/analytics */
export const AnalyticsPage = () => (
  <ComingSoon
    title="Analytics"
    service="analytics"
    text="Where visitors drop out between asking for an email and signing in, by website, language and email provider, so that you can see what to fix."
  />
);
