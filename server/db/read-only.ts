/** An SQL expression: why the server takes no writes; null when it takes them. It writes nothing itself. */
export const READ_ONLY_CAUSE = `case when pg_is_in_recovery() then 'standby'
  when current_setting('transaction_read_only') = 'on' then 'default_transaction_read_only' end`;

/** What READ_ONLY_CAUSE says. */
export type ReadOnlyCause = 'standby' | 'default_transaction_read_only';

/** The end of a sentence that begins with the server. */
export const READ_ONLY_TEXTS: Record<ReadOnlyCause, string> = {
  standby: 'is read-only: it is a standby',
  default_transaction_read_only: 'is read-only: default_transaction_read_only is on',
};

/** What an operator does about it. */
export const READ_ONLY_REMEDIES: Record<ReadOnlyCause, string> = {
  standby: 'Promote it, or give the address of the primary',
  default_transaction_read_only: 'Turn it off for the server, the database and the role, or give the address of a server that takes writes',
};
