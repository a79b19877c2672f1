/**
 * A small fault in a source, and the tests that see it. `text` is in `file` exactly once; a change that moves a guard moves its row
 * along. A row whose guard is gone with what it guarded goes with it; no other row goes.
 */
export type Mutation = { file: string; text: string; becomes: string; seenBy: string[] };

const rowsOf = (file: string, rows: [text: string, becomes: string, seenBy: string][]): Mutation[] =>
  rows.map(([text, becomes, seenBy]) => ({ file, text, becomes, seenBy: seenBy.split(' ') }));

export const mutations: Mutation[] = [
  ...rowsOf('server/signin/verify.ts', [
    ['t.used_at is null and t.expires_at > now()', 't.expires_at > now()', 'test/api/verify.test.ts'],
    ['and t.used_at is null and t.expires_at > now() and', 'and t.used_at is null and', 'test/statements/tokens.test.ts'],
    [
      'and t.audience = coalesce(g.host, t.audience)\n    and ${SAME_REGISTRATION}\n',
      'and ${SAME_REGISTRATION}\n',
      'test/api/verify.test.ts',
    ],
    [
      'and t.audience = coalesce(g.host, t.audience)\n    and ${SAME_REGISTRATION}\n',
      'and t.audience = coalesce(g.host, t.audience)\n',
      'test/api/ended-registrations.test.ts',
    ],
    ['set used_at = now(), idempotency_key', 'set used_at = t.used_at, idempotency_key', 'test/api/verify.test.ts'],
    ["t.used_at > now() - interval '60 seconds'", 'true', 'test/api/verify.test.ts'],
    ['case when t.idempotency_key = g.idempotency_key and', 'case when', 'test/api/verify.test.ts'],
    ["when t.hash is null or t.audience is null then 'unknown'", "when t.hash is null then 'unknown'", 'test/statements/tokens.test.ts'],
    ['if (!manages) return {', 'if (manages === null) return {', 'test/api/api-keys.test.ts test/api/verify.test.ts'],
    ["limits.hit('failed_verify', clientAddress), recorded", 'recorded', 'test/api/limits.test.ts test/api/verify.test.ts'],
    ["isLoopbackRedirectHost(name) ? name : (normalHost(name) ?? '')", 'name', 'test/statements/tokens.test.ts'],
  ]),
  ...rowsOf('server/signin/opener.ts', [
    [
      "and a.kind <> 'app' and a.consumed_at is null and a.expires_at > now()",
      "and a.kind <> 'app' and a.expires_at > now()",
      'test/api/visitor.test.ts test/api/repeated-openings.test.ts',
    ],
    [
      "and a.kind <> 'app' and a.consumed_at is null and a.expires_at > now()",
      'and a.consumed_at is null and a.expires_at > now()',
      'test/api/developer.test.ts',
    ],
    [
      "and a.kind <> 'app' and a.consumed_at is null and a.expires_at > now()",
      "and a.kind <> 'app' and a.consumed_at is null",
      'test/statements/attempts.test.ts',
    ],
    ['and (a.browser = g.browser or a.email = g.email)\n', '\n', 'test/api/visitor.test.ts test/api/scanners.test.ts'],
    ["and (a.domain is null or ${sameRegistration('a.domain', `a.expires_at - ${LIFE}`)})\n", '\n', 'test/api/ended-registrations.test.ts'],
    ["    and not ${endedBySibling('a')}\n", '', 'test/api/visitor.test.ts'],
    [
      "    and ${stillAwaited('a')}\n",
      '',
      'test/api/ended-registrations.test.ts test/api/websites.test.ts test/api/website-members.test.ts',
    ],
    ['case when not passkey_first then token end', 'token', 'test/api/passkeys.test.ts test/api/sign-in-methods.test.ts'],
    ["case when kind <> 'site' then browser end", 'null', 'test/api/sessions.test.ts test/api/accounts.test.ts'],
    ["k.selector = any($3) and k.verifier <> ''", 'k.selector = any($3)', 'test/statements/attempts.test.ts'],
    [
      'where a.id = $1 and a.consumed_at is not null and a.email = coalesce($5, a.email)',
      'where a.id = $1 and a.consumed_at is not null',
      'test/api/repeated-openings.test.ts',
    ],
    ['if (used || (hasToken && !isRecent)) {', 'if (used) {', 'test/api/repeated-openings.test.ts'],
    ['return same && isRecent && hasToken', 'return same && hasToken', 'test/api/repeated-openings.test.ts'],
    ['openings.map(({ method }) => METHODS[method].code)', "openings.map(() => 'l')", 'test/api/sign-in-methods.test.ts'],
  ]),
  ...rowsOf('server/signin/methods/link.ts', [
    [
      "if (!attempt || attempt.kind === 'app' || attempt.kind === 'oidc') throw",
      "if (!attempt || attempt.kind === 'app') throw",
      'test/api/oidc-interactions.test.ts test/api/oidc-attacks-pages.test.ts',
    ],
    [
      'where id = $1 and consumed_at is null and secret_tries < ${MAX_CODE_TRIES}',
      'where id = $1 and consumed_at is null',
      'test/api/visitor.test.ts',
    ],
    ["expires_at - ${lifeOf('a')} > now() - interval '1 hour'", 'true', 'test/api/mailbox-limits.test.ts'],
    ['if (sentTo === undefined || mailboxOf(sentTo) !== mailboxOf(email))', 'if (sentTo === undefined)', 'test/api/mailbox-limits.test.ts'],
  ]),
  ...rowsOf('server/signin/doors.ts', [
    ["request.method === 'GET' && !isPrefetch(request)", "request.method === 'GET'", 'test/api/scanners.test.ts'],
    ["request.method === 'GET' && !isPrefetch(request)", '!isPrefetch(request)', 'test/api/scanners.test.ts test/api/visitor.test.ts'],
    ['    requireOwnForm(request, this.#parts.origins);\n', '', 'test/api/sign-in-forms.test.ts test/api/protection.test.ts'],
    [' || !isPage(url)', '', 'test/api/next-page.test.ts'],
    ['(prefersJson(request) || ', '(', 'test/api/sign-in-forms.test.ts'],
    ['if (oneClick && !oneClick.includes(email)) return shown;\n', '', 'test/api/sign-in-methods.test.ts test/api/sign-in-forms.test.ts'],
    ['origin === publicUrl && !uid', 'origin === publicUrl', 'test/api/oidc-forms.test.ts'],
  ]),
  ...rowsOf('server/signin/request.ts', [
    ['isRandomSecret(requested) && digest(requested).equals(browser)', 'isRandomSecret(requested)', 'test/api/ended-links.test.ts'],
  ]),
  ...rowsOf('server/signin/machine.ts', [
    ['if (!mayOpen) return {', 'if (false) return {', 'test/api/scanners.test.ts'],
    ['state === undefined && ', '', 'test/api/next-page.test.ts'],
    ["typeof steps?.attempt?.state === 'string'", 'true', 'test/api/sign-in-forms.test.ts'],
  ]),
  ...rowsOf('server/signin/methods/code-tries.ts', [
    ['where ${column} = $1 and email = $2\n', 'where email = $2\n', 'test/api/visitor.test.ts test/api/code-limits.test.ts'],
    [
      '(consumed_at is null and expires_at > now() and code_tries',
      '(consumed_at is null and code_tries',
      'test/statements/attempts.test.ts',
    ],
    [
      'set code_tries = a.code_tries + 1 from permitted',
      'set code_tries = a.code_tries from permitted',
      'test/api/visitor.test.ts test/api/code-limits.test.ts',
    ],
    [
      'permitted as materialized (select id from accepted where not exists (select from over_total))',
      'permitted as materialized (select id from accepted)',
      'test/api/code-limits.test.ts',
    ],
    ['where newest <= room and (m.hits is null', 'where (m.hits is null', 'test/api/code-limits.test.ts'],
    [
      "'from of_network where room > 0 and wrong > 0 and not $9'",
      "'from of_network where false'",
      'test/api/guessed-mailbox.test.ts test/api/code-limits.test.ts',
    ],
  ]),
  ...rowsOf('server/signin/methods/code.ts', [
    ['if (match && tried.includes(match.id)) return match;', 'if (match) return match;', 'test/api/guessed-mailbox.test.ts'],
    [
      "(id === null || state === undefined)) throw new Fault('bad_code')",
      "id === null) throw new Fault('bad_code')",
      'test/api/visitor.test.ts',
    ],
    [
      '{ browser: match.browser, email: null, method: code.method }',
      "{ browser: match.browser, email: null, method: 'link' }",
      'test/api/sign-in-methods.test.ts',
    ],
  ]),
  ...rowsOf('server/signin/attempts.ts', [
    ['if (value.length !== ENTERED[method].places) return false;\n', '', 'server/signin/attempts.test.ts'],
    ['timingSafeEqual(linkMac(key, kind, id), given)', 'true', 'server/signin/attempts.test.ts'],
    ['update(`${kind}|${use}|`)', 'update(`${use}|`)', 'server/signin/attempts.test.ts test/api/developer.test.ts'],
    ["when a.code_tries >= ${MAX_CODE_TRIES} then 'code_spent'\n", '\n', 'test/api/sign-in-forms.test.ts'],
    ["when a.mail_failed then 'mail_failed'\n", '\n', 'test/faults/mail.test.ts'],
  ]),
  ...rowsOf('server/signin/attempt-conditions.ts', [
    [
      'and p.active_since <= ${attempt}.expires_at',
      'and now() <= ${attempt}.expires_at',
      'test/api/applications.test.ts test/api/application-links.test.ts',
    ],
    [
      'where p.client_id = ${attempt}.client_id and p.is_active\n',
      'where p.client_id = ${attempt}.client_id\n',
      'test/api/applications.test.ts',
    ],
    ['w.email = ${attempt}.email and w.claimed_at is null\n', 'w.email = ${attempt}.email\n', 'test/statements/attempts.test.ts'],
    ['m.email = ${attempt}.email and m.joined_at is null) end', 'm.email = ${attempt}.email) end', 'test/api/website-members.test.ts'],
    ['sibling.audience is not distinct from ${attempt}.audience', 'true', 'test/api/visitor.test.ts'],
  ]),
  ...rowsOf('server/signin/destination.ts', [
    ['if (loopback && !isLocal) return', 'if (false) return', 'server/signin/destination.test.ts'],
    ["url.protocol !== 'https:' || url.port !== ''", "url.protocol !== 'https:'", 'server/signin/destination.test.ts'],
    ['if (!loopback && normalHost(url.hostname) !== url.hostname)', 'if (false)', 'server/signin/destination.test.ts'],
    ["if (hasToken(text)) return 'has_token';\n", '', 'server/signin/destination.test.ts'],
    ['if (Buffer.byteLength(text) > MAX_BYTES)', 'if (text.length > MAX_BYTES)', 'server/signin/destination.test.ts'],
    ['if (FORBIDDEN.test(text) || ', 'if (', 'server/signin/destination.test.ts'],
    ['origin !== url.origin && origin.normalize() !== displayOriginOf(url)', 'false', 'server/signin/destination.test.ts'],
    ['match !== null && isPort(match[2]) && client', 'match !== null && client', 'server/signin/destination.test.ts'],
    ["if (client.kind === 'web' || port === undefined", 'if (port === undefined', 'server/signin/destination.test.ts'],
    [
      '/^(http:\\/\\/(?:localhost|127\\.0\\.0\\.1|\\[::1\\]))(?::',
      '/^(http:\\/\\/(?:localhost|127\\.0\\.0\\.1|\\[::1\\])[^/]*)(?::',
      'server/signin/destination.test.ts',
    ],
    [
      'case when w.proven_at is not null then w.icon end as icon',
      'w.icon as icon',
      'test/api/website-branding.test.ts test/api/uploads.test.ts test/api/icons.test.ts',
    ],
    ["queryAt === base.length - 1 || base.endsWith('&') ? '' : '&'", "'&'", 'server/signin/destination.test.ts'],
  ]),
  ...rowsOf('server/signin/sql-functions.ts', [
    [
      "g.kind = 'site' and w.id is null as is_unregistered",
      'false as is_unregistered',
      'test/api/visitor.test.ts test/api/websites.test.ts',
    ],
    ['order by k.key, k.n`', 'order by k.n`', 'test/statements/requests.test.ts'],
    ['if hits > per_network then', 'if false then', 'test/api/limits.test.ts test/api/network-limits.test.ts'],
    ["    statuses[i] := 'network';\n    window_ends[i] := ends;\n", '', 'test/api/network-limits.test.ts'],
    ['    if first_of_network[i] then', '    if false then', 'test/api/network-limits.test.ts'],
    ['if hits > per_pair then', 'if false then', 'test/api/limits.test.ts test/api/mailbox-limits.test.ts'],
    ['continue when hits <= per_mailbox - reserved;', 'continue when hits <= per_mailbox;', 'test/api/mailbox-limits.test.ts'],
    ['if hits <= per_share then', 'if false then', 'test/api/mailbox-limits.test.ts'],
    ['continue when hits <= reserved;', 'continue;', 'test/api/mailbox-limits.test.ts'],
    [
      '< ${PROBATION_RECIPIENTS} then\n',
      '< 1000000 then\n',
      'test/api/websites.test.ts test/api/limits.test.ts test/api/ended-registrations.test.ts',
    ],
    [
      'case when w.proven_at is not null then nullif(jsonb_strip_nulls',
      'case when true then nullif(jsonb_strip_nulls',
      'test/api/branding.test.ts test/api/website-branding.test.ts',
    ],
    ['    if known[i] then', '    if false then', 'test/api/mailbox-limits.test.ts'],
  ]),
  ...rowsOf('server/signin/request-store.ts', [
    [
      "await client.query(result.status === 'sent' ? 'commit' : onRefusal);",
      "await client.query('commit');",
      'test/api/website-members.test.ts',
    ],
  ]),
  ...rowsOf('server/signin/methods/quick-login.ts', [
    ['selector = $1 and device = $3 and email = $4', 'selector = $1 and email = $4 and $3::bytea is not null', 'test/api/accounts.test.ts'],
    [
      "email = $4 and ${isRememberedKeyAlive('remembered_keys')}\n",
      'email = $4\n',
      'test/api/accounts.test.ts test/api/devices.test.ts test/api/account-endings.test.ts',
    ],
    ['\n    and (verifier = $2 or (previous_verifier = $2 and rotated_at > now() - ${OVERLAP}))`;', '`;', 'test/api/accounts.test.ts'],
    ["and ($11::integer is null or ${isProvenWithin('remembered_keys', '$11')})\n", '\n', 'test/api/sign-in-methods.test.ts'],
    ["    and ${notBeingSignedOut('email')}\n  returning email, $12", '  returning email, $12', 'test/statements/accounts.test.ts'],
    ['    requireNoPasskey(destination);\n', '', 'test/api/sign-in-methods.test.ts test/api/passkeys.test.ts'],
    ["await this.#run('signin-key-reuse', END_REUSED_KEY, [selector, device, verifier]);\n", '', 'test/api/accounts.test.ts'],
  ]),
  ...rowsOf('server/signin/oauth.ts', [
    [
      'and client_id = $10 and redirect_uri = coalesce($11, redirect_uri) and challenge = $12\n',
      'and client_id = $10 and redirect_uri = coalesce($11, redirect_uri)\n',
      'test/api/developer.test.ts',
    ],
    [
      'and client_id = $10 and redirect_uri = coalesce($11, redirect_uri) and challenge = $12\n',
      'and redirect_uri = coalesce($11, redirect_uri) and challenge = $12\n',
      'test/api/developer.test.ts test/api/applications.test.ts',
    ],
    [
      'and client_id = $10 and redirect_uri = coalesce($11, redirect_uri) and challenge = $12\n',
      'and client_id = $10 and challenge = $12\n',
      'test/api/developer.test.ts test/api/applications.test.ts',
    ],
    [
      'and challenge = $3 and consumed_at is not null\n',
      'and challenge = $3 and false\n',
      'test/api/developer.test.ts test/api/sessions.test.ts',
    ],
    [
      'join remembered_keys k on k.device = $4 and k.email',
      'join remembered_keys k on k.email',
      'test/api/developer.test.ts test/api/repeated-openings.test.ts',
    ],
    [
      "and ${OPEN_ATTEMPT} and ${applicationActive('a')}\n  returning id, email, client_id",
      'and ${OPEN_ATTEMPT}\n  returning id, email, client_id',
      'test/api/applications.test.ts',
    ],
    [
      "if (!isRedirectOf(client, request.redirect_uri)) throw new Fault('bad_redirect_uri', { field: 'redirect_uri' });\n",
      '',
      'test/api/developer.test.ts test/api/applications.test.ts',
    ],
    [
      'secret_tries + case when email = $2 then 0 else 1 end',
      'secret_tries',
      'test/api/application-links.test.ts test/api/applications.test.ts',
    ],
  ]),
  ...rowsOf('server/signin/portal.ts', [
    [
      'const mayReplace = confirm || signedIn === null ||',
      'const mayReplace = true || signedIn === null ||',
      'test/api/accounts.test.ts test/api/sessions.test.ts test/api/developer.test.ts',
    ],
    ['update websites w set claimed_at = now()', 'update websites w set claimed_at = null', 'test/api/limits.test.ts'],
    ['and ($11 or browser = $10)\n', '\n', 'test/api/accounts.test.ts test/api/sessions.test.ts'],
  ]),
  ...rowsOf('server/signin/complete.ts', [
    ["case when ${clientId} is null then 'signed_in' else 'application_signed_in' end", "'signed_in'", 'test/api/passkeys.test.ts'],
    ['${endGuesses(`select mailbox from ${proof}`)}', 'select 1', 'test/api/guessed-mailbox.test.ts'],
    ['previous_verifier = null, rotated_at = now()', 'previous_verifier = null', 'test/api/visitor.test.ts'],
    ["verifier: \"''::bytea\" }, 'nothing'", 'verifier: "\'\'::bytea" }, REPLACE_KEY', 'test/statements/attempts.test.ts'],
  ]),
  ...rowsOf('server/developers/sessions.ts', [
    [
      "where s.hash = $1 and s.expires_at > now() and s.seen_at > now() - interval '7 days'",
      "where s.hash = $1 and s.seen_at > now() - interval '7 days'",
      'test/statements/sessions.test.ts',
    ],
    [
      "where s.hash = $1 and s.expires_at > now() and s.seen_at > now() - interval '7 days'",
      'where s.hash = $1 and s.expires_at > now()',
      'test/statements/sessions.test.ts',
    ],
    ['p.is_active and p.active_since <= s.created_at', 'p.active_since <= s.created_at', 'test/api/applications.test.ts'],
    [
      'delete from tokens where domain is null and used_at is null and email in',
      'delete from tokens where false and email in',
      'test/api/sessions.test.ts test/api/accounts.test.ts test/api/devices.test.ts',
    ],
    [
      "return authorization === undefined ? null : { ...account, credential: 'application', scopes: null };",
      "return { ...account, credential: 'application', scopes: null };",
      'test/api/applications.test.ts',
    ],
  ]),
  ...rowsOf('server/permissions/proofs.ts', [
    ['coalesce($2::bytea, s.device) and k.email = u.email', 'coalesce($2::bytea, s.device)', 'test/statements/accounts.test.ts'],
    [
      "\n  and ${provenAtOf('k')} > now() - interval '${PROOF_SECONDS} seconds'",
      '',
      'test/api/api-keys.test.ts test/api/passkeys.test.ts test/api/website-members.test.ts test/api/applications.test.ts',
    ],
  ]),
  ...rowsOf('server/platform/http/endpoint.ts', [
    ["if (development && !call.isFromThisMachine()) throw new Fault('not_found');\n", '', 'test/api/admin-pages.test.ts'],
    [
      "if (access === 'admin' && !(await call.isAdmin())) throw new Fault('admin_needed');\n",
      '',
      'test/api/admin.test.ts test/api/admin-pages.test.ts',
    ],
    ["if (identity.credential === 'test_key' && method !== 'GET') throw new Fault('test_key');\n", '', 'test/api/api-keys.test.ts'],
    ["if (identity.credential !== 'session' && access === 'person') {", 'if (false) {', 'test/api/api-keys.test.ts'],
    [
      'if (scope && identity.scopes && !identity.scopes.includes(scope)) {',
      'if (false) {',
      'test/api/api-keys.test.ts test/api/oidc-resources.test.ts',
    ],
    ["(identity.credential === 'application' && access !== 'identity')", 'false', 'test/api/applications.test.ts'],
    [
      "if (method !== 'GET') requireOwnOrigin(request, access, settings.origins);\n",
      '',
      'test/api/cross-origin.test.ts test/api/protection.test.ts',
    ],
  ]),
  ...rowsOf('server/platform/http/protection.ts', [
    [
      "return site === 'cross-site' || site === 'same-site' ? 'foreign' : 'unknown';",
      "return site === 'cross-site' ? 'foreign' : 'unknown';",
      'server/platform/http/protection.test.ts',
    ],
    [
      "if (senderOf(request, origins) !== 'own') throw",
      "if (senderOf(request, origins) === 'foreign') throw",
      'test/api/sign-in-forms.test.ts test/api/cross-origin.test.ts',
    ],
  ]),
  ...rowsOf('server/platform/http/cookies.ts', [
    [
      '{ httpOnly: true, ...(STRICT.has(name)',
      '{ ...(STRICT.has(name)',
      'test/api/protection.test.ts test/api/sessions.test.ts test/api/developer.test.ts test/api/admin.test.ts',
    ],
    ["...(STRICT.has(name) && { sameSite: 'strict' })", '', 'test/api/admin.test.ts test/api/protection.test.ts'],
    [
      'return secure && name in SECONDS ? `__Host-${name}` : name;',
      'return name;',
      'test/api/protection.test.ts test/api/sessions.test.ts test/api/developer.test.ts test/api/data-headers.test.ts',
    ],
  ]),
  ...rowsOf('server/platform/http/reading.ts', [
    ['if (size > MAX_BODY_BYTES) {', 'if (false) {', 'server/platform/http/reading.test.ts test/api/hostile.test.ts'],
    ['if (NUL.test(value)) throw nulFault();\n', '', 'server/platform/http/reading.test.ts'],
    ['value === null || Array.isArray(value)) throw', 'value === null) throw', 'test/api/protection.test.ts'],
  ]),
  ...rowsOf('server/platform/http/client-address.ts', [
    ['forwarded.at(-trustProxy)', 'forwarded.at(0)', 'server/platform/http/client-address.test.ts'],
    [
      "const isForwarded = httpVersion === '1.0' || PROXY",
      'const isForwarded = PROXY',
      'server/platform/http/client-address.test.ts test/api/protection.test.ts',
    ],
    [
      "?.range() === 'loopback' && isLoopbackHostHeader(headers.host)",
      "?.range() === 'loopback'",
      'server/platform/http/client-address.test.ts test/api/protection.test.ts',
    ],
    [
      "network.replace(/:[^:]+::\\/64$/, '::/48')",
      'network',
      'server/platform/http/client-address.test.ts test/api/network-limits.test.ts',
    ],
  ]),
  ...rowsOf('server/oidc/interactions.ts', [
    ['params: { ...waiting.params, login_hint: undefined }', 'params: waiting.params', 'test/api/next-page.test.ts'],
    ["params && prompt && prompt.name !== 'consent' ?", 'params && prompt ?', 'test/api/next-page.test.ts'],
    ['and browser = $2 and interaction = $3', 'and interaction = $3', 'test/api/oidc-attacks-pages.test.ts test/api/oidc.test.ts'],
    ['and browser = $2 and interaction = $3', 'and browser = $2', 'test/api/oidc-attacks-pages.test.ts test/api/oidc.test.ts'],
  ]),
  ...rowsOf('server/oidc/adapter.ts', [
    [
      "if (this.kind === 'Grant' && (payload.iat ?? 0) < (this.parts.clientSince() ?? 0)) return undefined;\n",
      '',
      'test/api/oidc-clients.test.ts test/api/oidc-sessions.test.ts test/api/oidc-consent.test.ts test/api/ended-registrations.test.ts',
    ],
    [
      "if (!(await this.parts.store.consume(this.kind, id))) throw new this.parts.errors.InvalidGrant('already used');",
      'await this.parts.store.consume(this.kind, id);',
      'test/statements/oidc-adapter.test.ts',
    ],
    ["Interaction: ['returnTo', 'session', 'deviceCode', 'parJti'],\n", '', 'test/statements/oidc-adapter.test.ts'],
    [
      'userCode: userCode && keyedHash(this.parts.secretKeys.writing, userCode),',
      'userCode,',
      'test/api/oidc-device.test.ts test/api/oidc-dump.test.ts',
    ],
  ]),
  ...rowsOf('server/oidc/store.ts', [
    ['where kind = $1 and id = $2 and consumed_at is null and', 'where kind = $1 and id = $2 and', 'test/statements/oidc-records.test.ts'],
    ["where ${isAlive('r')}`", '`', 'test/statements/oidc-records.test.ts'],
    ["w.kind in ('Grant', 'Session') or w.has_grant", 'false', 'test/statements/oidc-records.test.ts'],
    ["if (!request || change.kind === 'ReplayDetection')", 'if (!request)', 'test/statements/oidc-records.test.ts'],
    ['request.found.clear();\n', '', 'test/statements/oidc-records.test.ts'],
    [
      'await this.#settle();\n    const values = [kind, digest(id)];',
      'const values = [kind, digest(id)];',
      'test/statements/oidc-records.test.ts',
    ],
    ["await this.#core.query({ name: 'oidc-revoke-reused', text: REVOKE_REUSED, values });\n", '', 'test/statements/oidc-records.test.ts'],
  ]),
  ...rowsOf('server/oidc/client-rules.ts', [
    [
      "if (clientKindOf(clientId) === 'website') return isBelow(clientId, uri);",
      "if (clientKindOf(clientId) === 'website') return uri.startsWith(clientId);",
      'test/api/oidc-attacks-urls.test.ts test/api/oidc-clients.test.ts',
    ],
    ['if (hasOwnScheme(uri) && redirectUriFault(uri)) return false;\n', '', 'server/oidc/client-rules.test.ts'],
    ['for (const name of OWN_METADATA) delete metadata[name];\n', '', 'server/oidc/client-rules.test.ts'],
    ["await count('client_documents', context.req)", 'await Promise.resolve()', 'test/api/oidc-attacks-urls.test.ts'],
  ]),
  ...rowsOf('server/mail/store.ts', [
    [
      'where due_at <= now() and expires_at > now() order by id limit $1 for update skip locked',
      'where expires_at > now() order by id limit $1 for update skip locked',
      'test/faults/outbox.test.ts',
    ],
    [
      'update outbox o set due_at = now() + make_interval(secs => $2)\n',
      'update outbox o set due_at = o.due_at\n',
      'test/faults/outbox.test.ts',
    ],
    ["set_config('synchronous_commit', 'off', true)", "set_config('synchronous_commit', 'off', false)", 'test/statements/outbox.test.ts'],
    ['select hits <= $3 as admitted', 'select true as admitted', 'test/api/mailbox-limits.test.ts test/api/limits.test.ts'],
  ]),
  ...rowsOf('server/platform/http/limits.ts', [
    ['if (hits <= this.#maxOf(limit)) return;', 'if (hits >= 0) return;', 'test/statements/rate-limits.test.ts test/api/limits.test.ts'],
    ['if (counter.hits > this.#maxOf(limit)) throw', 'if (counter.hits < 0) throw', 'test/statements/rate-limits.test.ts'],
  ]),
  ...rowsOf('server/platform/db/rate-limits.ts', [
    [
      'resets_at = case when l.resets_at <= now() or l.hits = 0 then excluded.resets_at else l.resets_at end',
      'resets_at = excluded.resets_at',
      'test/statements/rate-limits.test.ts',
    ],
    ['excluded.hits else l.hits + excluded.hits end', 'excluded.hits else l.hits end', 'test/statements/rate-limits.test.ts'],
  ]),
  ...rowsOf('server/websites/store.ts', [
    ["if (holder?.provenAt && !isHolder && kind !== 'dns')", 'if (false)', 'test/statements/claims.test.ts'],
  ]),
  ...rowsOf('server/websites/members.ts', [
    ['if (others >= MAX_WEBSITE_MEMBERS) {', 'if (false) {', 'test/api/website-members.test.ts'],
    [
      'const { website, linkedAddress } = await (isLeaving ? findManaged : findOwned)(orm,',
      'const { website, linkedAddress } = await findManaged(orm,',
      'test/api/website-members.test.ts',
    ],
    [
      "if (email === linkedAddress) throw linkedStays();\n      const member = await orm.WebsiteMember.findOne({ where: { websiteId: id, email }, transaction });\n      if (!member) throw new Fault('member_not_found');\n      await member.destroy",
      "const member = await orm.WebsiteMember.findOne({ where: { websiteId: id, email }, transaction });\n      if (!member) throw new Fault('member_not_found');\n      await member.destroy",
      'test/api/website-members.test.ts',
    ],
    ['joinedAt: null, invitedAt: { [orm.Op.gt]: orm.time(OLDEST_VALID) } };', 'joinedAt: null };', 'test/api/website-members.test.ts'],
  ]),
  ...rowsOf('server/websites/managers.ts', [
    ["if (role !== 'owner') throw new Fault('owner_needed');", '', 'test/api/website-members.test.ts'],
  ]),
  ...rowsOf('server/websites/storage.ts', [
    ['if (file.received > MAX_READ_BYTES) reject', 'if (false) reject', 'test/api/uploads.test.ts'],
    ["if (file.received > MAX_ICON_BYTES) throw new Fault('icon_too_large');\n", '', 'test/api/uploads.test.ts'],
  ]),
  ...rowsOf('cli/exit.ts', [
    ['signInNeeded: 4', 'signInNeeded: 1', 'test/cli/sweep.test.ts'],
    ['unreachable: 8', 'unreachable: 1', 'test/cli/sweep.test.ts'],
    ['usage: 3', 'usage: 1', 'test/cli/sweep.test.ts'],
  ]),
  ...rowsOf('server/platform/db/activity-rows.ts', [
    ['order by n limit 1)', 'order by n desc limit 1)', 'test/statements/activity.test.ts'],
    ["'^https://([^/:]+)$'", "'https://([^/:]+)'", 'test/statements/activity.test.ts'],
    ['found where website_id is not null or application_id is not null', 'found', 'test/statements/activity.test.ts'],
  ]),
  ...rowsOf('server/activity/event-store.ts', [
    ['at >= since as visible', 'true as visible', 'test/api/website-events.test.ts'],
    [' and ${IS_EVENT}\n  order by id limit $5', '\n  order by id limit $5', 'test/api/website-events.test.ts'],
    [
      'from websites w where ${IS_OWN} and id = any($2::uuid[])',
      'from websites w where id = any($2::uuid[])',
      'test/api/website-events.test.ts',
    ],
  ]),
  ...rowsOf('server/activity/log.ts', [
    ["where id = $2::uuid and ${managedBy('w', '$1')}`", 'where id = $2::uuid and $1::text is not null`', 'test/api/website-log.test.ts'],
    ['const oldest = Math.max(since.getTime(), ', 'const oldest = Math.max(', 'test/api/website-log.test.ts'],
    ['if (rows.length < MAX_ROWS && readRows < limit) return', 'if (rows.length < MAX_ROWS) return', 'test/api/website-log.test.ts'],
  ]),
  ...rowsOf('server/activity/stats-store.ts', [
    [
      'from event join registered on registered.id = website_id and at >= since',
      'from event join registered on registered.id = website_id',
      'test/api/stats.test.ts',
    ],
  ]),
  ...rowsOf('server/websites/visits.ts', [
    ['on registered.id = visit.website_id and at >= since', 'on registered.id = visit.website_id', 'test/api/visitors.test.ts'],
  ]),
  ...rowsOf('server/operations/operator-store.ts', [
    ["const REPLACED = ['email', 'actor', 'object']", "const REPLACED = ['email']", 'test/api/erasure.test.ts'],
    ["'update sign_in_steps s set email = erased from", "'update sign_in_steps s set email = s.email from", 'test/api/erasure.test.ts'],
  ]),
];
