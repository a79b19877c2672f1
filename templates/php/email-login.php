<?php
declare(strict_types=1);

namespace EmailLogin;

define('EmailLogin\SERVICE', setting('EMAILAUTH_URL', '__ORIGIN__'));
define('EmailLogin\SITE', rtrim(setting('SITE_URL', '__SITE__'), '/'));

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

/** Opens a session. That of the app stays open, or is opened again for a sign-in, since its cookie may lack these flags. */
function openSession(bool $again = false): void
{
    $isOpen = session_status() === PHP_SESSION_ACTIVE;
    $cookie = ['cookie_httponly' => true, 'cookie_samesite' => ini_get('session.cookie_samesite') ?: 'Lax'];
    $cookie['cookie_secure'] = str_starts_with(SITE, 'https:') || ini_get('session.cookie_secure');
    if (!$isOpen || $again) {
        session_write_close();
        session_start($isOpen ? $cookie : $cookie + ['use_strict_mode' => true]);
    }
}

function login(): never
{
    openSession(again: true);
    $_SESSION['login_state'] = $state = bin2hex(random_bytes(24));
    $_SESSION['login_return_to'] = $_GET['return_to'] ?? null;
    $query = ['forward_url' => SITE . "__CALLBACK__?state=$state", 'language' => '__LANGUAGE__'];
    redirect(SERVICE . '/auth?' . http_build_query($query));
}

function callback(): never
{
    openSession(again: true);
    [$state, $token, $expected] = [$_GET['state'] ?? '', $_GET['token'] ?? '', $_SESSION['login_state'] ?? ''];
    // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    if (!is_string($state) || !is_string($token) || $token === '' || $expected === '' || !hash_equals($expected, $state)) {
        refuse('This sign-in is not valid in this browser.', 400);
    }
    $query = http_build_query(['token' => $token, 'domain' => parse_url(SITE, PHP_URL_HOST)]);
    $context = stream_context_create(['http' => ['timeout' => 5]]);
    $result = @file_get_contents(SERVICE . "/api/verify-token?$query", false, $context);
    $result = json_decode((string) $result, true) ?? refuse('Sign-in is not available at the moment.', 503);
    if ($result['valid'] !== true) {
        refuse('This sign-in was already used or has expired.', 400);
    }
    $returnTo = localPath($_SESSION['login_return_to'] ?? null);
    // The data of the app stays in the session, unless it belongs to another visitor.
    $isSame = ($_SESSION['signed_in_email'] ?? $result['email']) === $result['email'];
    session_regenerate_id(true);
    $_SESSION = ['signed_in_email' => $result['email']] + ($isSame ? $_SESSION : []);
    unset($_SESSION['login_state'], $_SESSION['login_return_to']);
    redirect($returnTo);
}

/** Returns the email address of the signed-in visitor; call it on pages that require a sign-in. */
function signedInEmail(): string
{
    openSession();
    return $_SESSION['signed_in_email'] ?? redirect('__LOGIN__?' . http_build_query(['return_to' => $_SERVER['REQUEST_URI']]));
}

function account(string $email): never
{
    exit('<p>Signed in as ' . htmlspecialchars($email) . '</p><form method="post" action="/logout"><button>Log out</button></form>');
}

function logout(): never
{
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
    exit("<p>$reason <a href=\"__LOGIN__\">Try again</a></p>");
}

function redirect(string $to): never
{
    header("Location: $to", true, 303);
    exit;
}
