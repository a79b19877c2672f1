<?php
declare(strict_types=1);

namespace EmailLogin;

define('EmailLogin\SERVICE', setting('EMAILAUTH_URL', '__ORIGIN__'));
define('EmailLogin\SITE', rtrim(setting('SITE_URL', '__SITE__'), '/'));
define('EmailLogin\IS_SECURE', str_starts_with(SITE, 'https:'));
// Another subdomain cannot set a cookie with this prefix.
define('EmailLogin\STATE', IS_SECURE ? '__Host-login_state' : 'login_state');

match (($_SERVER['REQUEST_METHOD'] ?? '') . ' ' . parse_url($_SERVER['REQUEST_URI'] ?? '', PHP_URL_PATH)) {
    'GET __LOGIN__' => login(),
    'GET __CALLBACK__' => callback(),
    'GET /account' => account(signedInEmail()),
    'POST /logout' => logout(),
    default => null, // Continue with your own pages.
};

/** Returns a variable of the environment, or of the file .env beside this file. */
function setting(string $name, string $default): string
{
    preg_match("/^$name=[\"']?([^\"'\s]+)/m", (string) @file_get_contents(__DIR__ . '/.env'), $line);
    return getenv($name) ?: $line[1] ?? $default;
}

/** Opens a session, which PHP stores on the server: it needs no key. That of the app stays open, or is opened again for a sign-in, since its cookie may lack these flags. */
function openSession(bool $again = false): void
{
    $isOpen = session_status() === PHP_SESSION_ACTIVE;
    $cookie = ['cookie_httponly' => true, 'cookie_samesite' => ini_get('session.cookie_samesite') ?: 'Lax'];
    $cookie['cookie_secure'] = IS_SECURE || ini_get('session.cookie_secure');
    if (!$isOpen || $again) {
        session_write_close();
        session_start($isOpen ? $cookie : $cookie + ['use_strict_mode' => true]);
    }
}

function login(): never
{
    $state = bin2hex(random_bytes(24));
    keepState($state, time() + 3600);
    $back = http_build_query(['state' => $state, 'return_to' => localPath($_GET['return_to'] ?? null)]);
    $query = ['forward_url' => SITE . "__CALLBACK__?$back", 'language' => '__LANGUAGE__'];
    redirect(SERVICE . '/auth?' . http_build_query($query));
}

function callback(): never
{
    [$state, $token, $expected] = [$_GET['state'] ?? '', $_GET['token'] ?? '', cookieOf(STATE)];
    if (!is_string($state) || !is_string($token) || $state === '' || $token === '') {
        refuse('This sign-in is not valid in this browser.', 400);
    }
    // The state has expired, or the link was opened in another browser: the sign-in starts over.
    if ($expected === null) {
        redirect(loginFor($_GET['return_to'] ?? null));
    }
    // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    if (!hash_equals($expected, $state)) {
        refuse('This sign-in is not valid in this browser.', 400);
    }
    $query = http_build_query(['token' => $token, 'domain' => parse_url(SITE, PHP_URL_HOST)]);
    $context = stream_context_create(['http' => ['timeout' => 5]]);
    $result = @file_get_contents(SERVICE . "/api/verify-token?$query", false, $context);
    $result = json_decode((string) $result, true) ?? refuse('Sign-in is not available at the moment.', 503);
    if ($result['valid'] !== true) {
        refuse('This sign-in was already used or has expired.', 400);
    }
    keepState('', 1);
    openSession(again: true);
    // The data of the app stays in the session, unless it belongs to another visitor.
    $isSame = ($_SESSION['signed_in_email'] ?? $result['email']) === $result['email'];
    session_regenerate_id(true);
    $_SESSION = ['signed_in_email' => $result['email'], 'signed_in_host' => hostOf(SITE)] + ($isSame ? $_SESSION : []);
    redirect(localPath($_GET['return_to'] ?? null));
}

/** Returns the email address of the signed-in visitor; call it on pages that require a sign-in. */
function signedInEmail(): string
{
    openSession();
    header('Cache-Control: no-store');
    // Websites on one server may share the store of their sessions.
    $isSignedIn = ($_SESSION['signed_in_host'] ?? null) === hostOf(SITE) && cookieOf(session_name()) !== '';
    return $isSignedIn ? $_SESSION['signed_in_email'] : redirect(loginFor($_SERVER['REQUEST_URI']));
}

function account(string $email): never
{
    page('<p>Signed in as ' . htmlspecialchars($email) . '</p><form method="post" action="/logout"><button>Log out</button></form>');
}

function logout(): never
{
    // A form of another website must not sign the visitor out.
    if (($_SERVER['HTTP_ORIGIN'] ?? '') !== SITE && ($_SERVER['HTTP_SEC_FETCH_SITE'] ?? '') !== 'same-origin') {
        http_response_code(403);
        exit('Forbidden');
    }
    openSession();
    session_destroy();
    redirect('/');
}

/** Returns a path of this website to return to. Browsers take "//" and "\" for the start of another website. */
function localPath(mixed $path): string
{
    return is_string($path) && preg_match('~^/(?![/\\\\])[^\\\\\x00-\x1f\x7f]{0,999}$~D', $path) ? $path : '/account';
}

function refuse(string $reason, int $status): never
{
    http_response_code($status);
    page("<p>$reason <a href=\"" . loginFor($_GET['return_to'] ?? null) . '">Try again</a></p>');
}

function page(string $body): never
{
    $head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__';
    exit("<!doctype html><html lang=\"en\">$head$body</html>");
}

/** Keeps the state of a sign-in in a cookie; with a time in the past, deletes it. */
function keepState(string $state, int $until): void
{
    $flags = ['path' => '/', 'secure' => IS_SECURE, 'httponly' => true, 'samesite' => 'Lax'];
    setcookie(STATE, $state, $flags + ['expires' => $until]);
}

/** Returns the value of a cookie, or null; an empty one when there are two, of which one may be from another subdomain. */
function cookieOf(string $name): ?string
{
    $count = preg_match_all('/(?:^|; ?)' . preg_quote($name, '/') . '=([^;]*)/', $_SERVER['HTTP_COOKIE'] ?? '', $found);
    return $count > 1 ? '' : $found[1][0] ?? null;
}

function hostOf(string $url): string
{
    return explode('/', $url)[2];
}

function loginFor(mixed $path): string
{
    return '__LOGIN__?' . http_build_query(['return_to' => localPath($path)]);
}

function redirect(string $to): never
{
    header("Location: $to", true, 303);
    exit;
}
