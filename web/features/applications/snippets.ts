/** Begins a sign-in through an application: the call that its server makes. */
export const authorizeSnippet = (origin: string, clientId: string, redirectUri: string) => `curl ${origin}/api/auth/authorize \\
  -H 'Content-Type: application/json' \\
  -d '{
    "client_id": "${clientId}",
    "redirect_uri": "${redirectUri}",
    "email": "ada@example.com",
    "code_challenge": "SHA256_OF_YOUR_VERIFIER",
    "code_challenge_method": "S256",
    "state": "A_RANDOM_VALUE"
  }'`;

/** The smallest call with an API key. */
export const keySnippet = (origin: string, key: string) => `curl ${origin}/api/websites \\
  -H 'Authorization: Bearer ${key}'`;
