import { useEffect, useRef } from 'react';
import { wordsOf } from '../../lib/failure.ts';
import { useUser } from '../../lib/session.ts';
import { Alert } from '../../ui/alert.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Failed } from '../../ui/failed.tsx';
import { CheckIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useJoinWaitlist, useWaitlist, type WaitlistService } from './queries.ts';

/** A service that is not there yet: what it will do, and a place on its waitlist. */
export function ComingSoon({ title, text, service }: { title: string; text: string; service: WaitlistService }) {
  return (
    <div className="max-w-xl">
      <div className="flex flex-wrap items-center gap-3">
        <PageHeading title={title} />
        <Badge>Coming Soon</Badge>
      </div>
      <p className="mt-3 mb-8 leading-7 text-muted">{text}</p>
      <Place title={title} service={service} />
    </div>
  );
}

function Place({ title, service }: { title: string; service: WaitlistService }) {
  const { data: waitlist, ...query } = useWaitlist();
  const join = useJoinWaitlist();
  const { data: user } = useUser();
  const place = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (join.isSuccess) place.current?.focus();
  }, [join.isSuccess]);

  if (query.error && !waitlist) return <Failed {...query} fallback="The waitlist could not be loaded." />;
  if (!waitlist) return <Skeleton className="h-11 w-36" />;
  if (waitlist.joined.includes(service)) {
    return (
      <p ref={place} tabIndex={-1} className="flex min-h-11 items-center gap-2.5 [overflow-wrap:anywhere]">
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
      {join.error && !join.isPending && <Alert>{wordsOf(join.error, 'You could not be put on the list.')}</Alert>}
      <Button busy={join.isPending} onClick={() => join.mutate(service)}>
        Join Waitlist
      </Button>
    </div>
  );
}
