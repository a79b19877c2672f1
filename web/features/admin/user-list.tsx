import { dayOf } from '../../lib/dates.ts';
import { Entries, Id } from './entries.tsx';
import { useAdminUsers } from './queries.ts';

export function UserList() {
  return (
    <Entries
      title="Users"
      what="users"
      pages={useAdminUsers()}
      empty={{ title: 'No users', text: 'Whoever signs in to the developer portal stands here. Visitors of sites do not.' }}
      row={({ id, email, name, websites, createdAt }) => (
        <>
          <div className="min-w-0 grow basis-64">
            <h3 className="font-medium [overflow-wrap:anywhere]">{email}</h3>
            <p className="mt-0.5 text-sm text-muted [overflow-wrap:anywhere]">
              {name && `${name} · `}
              {websites === 1 ? '1 website' : `${websites} websites`} · Since {dayOf(createdAt)}
            </p>
          </div>
          <Id id={id} of={email} />
        </>
      )}
    />
  );
}
