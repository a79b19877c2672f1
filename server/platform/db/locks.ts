/**
 * The numbers of the advisory locks, the same in every instance. A lock of a session or of a transaction; with a second number it is the
 * lock of one account, device or key, of which the first number is the kind.
 */
export const LOCKS = {
  /** Held while an instance serves; a restore takes it alone. */
  serving: 4_127_002,
  /** A process migrates the schema; its session holds the lock during the whole migration. */
  migration: 4_127_003,
  /** One process creates or drops partitions. */
  partitions: 4_127_004,
  /** One instance changes the signing keys of the OpenID provider. */
  providerKeys: 4_127_005,
  /** Held while an instance with a SECRET_KEY serves; by its fingerprint. */
  secretKey: 4_127_006,
  /** The sign-out of an account; by a hash of its address. */
  signOut: 4_127_007,
  /** A change of the session of a device; by a hash of the device. */
  device: 4_127_008,
} as const;

/**
 * Takes the lock of a thing that has no number until the end of the transaction, by its name in $1, which begins with its kind: `claim
 * shop.example`.
 */
export const LOCK_BY_NAME = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
