<?php
declare(strict_types=1);

define('EMAILAUTH_URL', getenv('EMAILAUTH_URL') ?: '__ORIGIN__');
define('SITE_URL', rtrim(getenv('SITE_URL') ?: '__SITE__', '/'));
$secure = str_starts_with(SITE_URL, 'https:');
session_start(['use_strict_mode' => true, 'cookie_httponly' => true, 'cookie_samesite' => 'Lax', 'cookie_secure' => $secure]);

match ($_SERVER['REQUEST_METHOD'] . ' ' . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
    'GET /login' => login(),
    'GET __CALLBACK__' => callback(),
    'GET /account' => account(signedInEmail()),
    'POST /logout' => logout(),
    default => null, // Continue with your own pages.
};

function login(): never
{
    $_SESSION['login_state'] = $state = bin2hex(random_bytes(24));
    $query = ['forward_url' => SITE_URL . "__CALLBACK__?state=$state", 'language' => '__LANGUAGE__'];
    redirect(EMAILAUTH_URL . '/auth?' . http_build_query($query));
}

function callback(): never
{
    [$state, $token, $expected] = [$_GET['state'] ?? '', $_GET['token'] ?? '', $_SESSION['login_state'] ?? ''];
    // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    if (!is_string($state) || !is_string($token) || $token === '' || $expected === '' || !hash_equals($expected, $state)) {
        refuse('This sign-in is not valid in this browser.', 400);
    }
    $query = http_build_query(['token' => $token, 'domain' => parse_url(SITE_URL, PHP_URL_HOST)]);
    $context = stream_context_create(['http' => ['timeout' => 5]]);
    $result = @file_get_contents(EMAILAUTH_URL . "/api/verify-token?$query", false, $context);
    $result = json_decode((string) $result, true) ?? refuse('Sign-in is not available at the moment.', 503);
    if ($result['valid'] !== true) {
        refuse('This sign-in was already used or has expired.', 400);
    }
    session_regenerate_id(true);
    $_SESSION = ['email' => $result['email']];
    redirect('/account');
}

/** Returns the email address of the signed-in visitor; call it on pages that require a sign-in. */
function signedInEmail(): string
{
    return $_SESSION['email'] ?? redirect('/login');
}

function account(string $email): never
{
    exit('<p>Signed in as ' . htmlspecialchars($email) . '</p><form method="post" action="/logout"><button>Log out</button></form>');
}

function logout(): never
{
    session_destroy();
    redirect('/');
}

function refuse(string $reason, int $status): never
{
    http_response_code($status);
    exit("<p>$reason <a href=\"/login\">Try again</a></p>");
}

function redirect(string $to): never
{
    header("Location: $to", true, 303);
    exit;
}
