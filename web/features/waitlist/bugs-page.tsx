import { ComingSoon } from './coming-soon.tsx';

/** /dashboard/bugs */
export const BugsPage = () => (
  <ComingSoon
    title="Bug Reports"
    service="bugs"
    text="Visitors report a sign-in that failed from the very page where it did, and you read what they saw and what had happened before."
  />
);
