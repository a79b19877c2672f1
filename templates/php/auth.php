<?php
declare(strict_types=1);

$auth = getenv('EMAILAUTH_URL') ?: '__ORIGIN__';
$site = getenv('SITE_URL') ?: '__SITE__';
$secure = str_starts_with($site, 'https:');
session_set_cookie_params(['httponly' => true, 'samesite' => 'Lax', 'secure' => $secure, 'path' => '/']);
ini_set('session.use_strict_mode', '1');
session_start();

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
match ($_SERVER['REQUEST_METHOD'] . ' ' . $path) {
    'GET /login' => login($auth, $site),
    'GET __CALLBACK__' => callback($auth, $site),
    'GET /account' => account(signedInEmail()),
    'POST /logout' => logout(),
    default => null, // Your own pages go on from here.
};

function login(string $auth, string $site): never
{
    $_SESSION['login_state'] = $state = bin2hex(random_bytes(16));
    $forwardUrl = "{$site}__CALLBACK__?state=$state";
    go("$auth/auth?" . http_build_query(['forward_url' => $forwardUrl, 'language' => '__LANGUAGE__']));
}

function callback(string $auth, string $site): never
{
    $state = $_GET['state'] ?? null;
    $token = $_GET['token'] ?? null;
    // The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
    if (!is_string($token) || !is_string($state) || !hash_equals($_SESSION['login_state'] ?? '', $state) || $state === '') {
        refuse('This sign-in is not valid in this browser.', 400);
    }
    $question = http_build_query(['token' => $token, 'domain' => parse_url($site, PHP_URL_HOST)]);
    $context = stream_context_create(['http' => ['timeout' => 5]]);
    $answer = json_decode((string) @file_get_contents("$auth/api/verify-token?$question", false, $context), true);
    if (!is_array($answer)) {
        refuse('Sign-in is not available at the moment.', 503);
    }
    if ($answer['valid'] !== true) {
        refuse('This sign-in is used up or too old.', 400);
    }
    session_regenerate_id(true);
    $_SESSION = ['email' => $answer['email']];
    go('/account');
}

/** Call it on every page that needs a visitor. */
function signedInEmail(): string
{
    return $_SESSION['email'] ?? go('/login');
}

function account(string $email): never
{
    $email = htmlspecialchars($email);
    exit("<p>Signed in as $email</p><form method=\"post\" action=\"/logout\"><button>Log out</button></form>");
}

function logout(): never
{
    $_SESSION = [];
    session_regenerate_id(true);
    go('/');
}

function refuse(string $reason, int $status): never
{
    http_response_code($status);
    exit("<p>$reason <a href=\"/login\">Try again</a></p>");
}

function go(string $to): never
{
    header("Location: $to", true, 303);
    exit;
}
