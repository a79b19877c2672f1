import { useEffect, useRef } from 'react';
import type { Input } from '../../../contract/calls.ts';
import { errorText } from '../../lib/api.ts';
import { useAct, useCall } from '../../lib/calls.ts';
import { useUser } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { CheckIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Alert, Badge, Failed, Skeleton } from '../../ui/states.tsx';

type WaitlistService = Input<'joinWaitlist'>['service'];

/** /dashboard/analytics */
export const AnalyticsPage = () => (
  <ComingSoon
    title="Analytics"
    service="analytics"
    text="Where visitors drop out between requesting an email and signing in, by website, language and email provider, so that you can see what to fix."
  />
);

/** /dashboard/bugs */
export const BugsPage = () => (
  <ComingSoon
    title="Bug Reports"
    service="bugs"
    text="Visitors report a failed sign-in from the page where it failed, and you read what they saw and what happened before."
  />
);

/** A planned service: what it will do, and its waitlist. */
function ComingSoon({ title, text, service }: { title: string; text: string; service: WaitlistService }) {
  return (
    <div className="max-w-xl">
      <div className="flex flex-wrap items-center gap-3">
        <PageHeading title={title} />
        <Badge>Coming Soon</Badge>
      </div>
      <p className="mt-3 mb-8 leading-7 text-muted">{text}</p>
      <Waitlist title={title} service={service} />
    </div>
  );
}

function Waitlist({ title, service }: { title: string; service: WaitlistService }) {
  const { data: waitlist, ...query } = useCall('waitlist');
  const join = useAct('joinWaitlist', { refreshes: ['waitlist'] });
  const { data: user } = useUser();
  const place = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (join.isSuccess) place.current?.focus();
  }, [join.isSuccess]);

  if (query.error && !waitlist) return <Failed {...query} fallback="The waitlist could not be loaded." />;
  if (!waitlist) return <Skeleton className="h-11 w-36" />;
  if (waitlist.joined.includes(service)) {
    return (
      <p ref={place} tabIndex={-1} className="flex min-h-11 items-center gap-2.5 wrap-anywhere">
        <CheckIcon className="size-4 text-accent" />
        <span>
          <strong className="font-medium">You are on the list</strong>
          <span className="text-muted">
            {' '}
            · {title} will be announced to {user?.email}
          </span>
        </span>
      </p>
    );
  }
  return (
    <div className="grid justify-items-start gap-4">
      {join.error && !join.isPending && <Alert>{errorText(join.error, 'You could not be put on the list.')}</Alert>}
      <Button busy={join.isPending} onClick={() => join.mutate({ service })}>
        Join Waitlist
      </Button>
    </div>
  );
}
