<?php
/**
 * Plugin Name: Email Login
 * Description: Signs visitors in with a link in an email, without a password.
 * Requires at least: 5.6
 * Requires PHP: 7.4
 */

defined( 'ABSPATH' ) || exit;

defined( 'EMAILAUTH_URL' ) || define( 'EMAILAUTH_URL', getenv( 'EMAILAUTH_URL' ) ?: '__ORIGIN__' );
// Users with other roles still need their password and second factor.
defined( 'EMAIL_LOGIN_ROLES' ) || define( 'EMAIL_LOGIN_ROLES', array( 'subscriber', 'customer' ) );

add_action( 'parse_request', function ( $wp ) {
	$routes = array( 'GET __LOGIN__' => 'start', 'GET __CALLBACK__' => 'callback', 'GET /account' => 'account', 'POST /logout' => 'end' );
	$route  = $routes[ "{$_SERVER['REQUEST_METHOD']} /$wp->request" ] ?? null;
	if ( $route ) {
		nocache_headers();
		header( 'Cache-Control: no-store' );
		call_user_func( "email_login_$route" );
		exit;
	}
} );

function email_login_start() {
	$state = wp_generate_password( 40, false );
	email_login_keep( $state, time() + HOUR_IN_SECONDS );
	$back  = http_build_query( array( 'state' => $state, 'return_to' => email_login_path() ) );
	$query = array( 'forward_url' => home_url( "__CALLBACK__?$back" ), 'language' => '__LANGUAGE__' );
	wp_redirect( EMAILAUTH_URL . '/auth?' . http_build_query( $query ) );
}

function email_login_callback() {
	[ $state, $token ] = array_map( 'sanitize_text_field', wp_unslash( array( $_GET['state'] ?? '', $_GET['token'] ?? '' ) ) );
	$expected          = email_login_kept();
	email_login_require( $token && $state, 'This sign-in is not valid in this browser.', 400 );
	// The state has expired, or the link was opened in another browser: the sign-in starts over.
	if ( null === $expected ) {
		return wp_safe_redirect( email_login_url() );
	}
	// The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
	email_login_require( hash_equals( $expected, $state ), 'This sign-in is not valid in this browser.', 400 );

	$query = http_build_query( array( 'token' => $token, 'domain' => wp_parse_url( home_url(), PHP_URL_HOST ) ) );
	$response = wp_remote_get( EMAILAUTH_URL . "/api/verify-token?$query", array( 'timeout' => 5 ) );
	$result   = 200 === wp_remote_retrieve_response_code( $response ) ? json_decode( wp_remote_retrieve_body( $response ) ) : null;
	email_login_require( $result, 'Sign-in is not available at the moment.', 503 );
	email_login_require( $result->valid, 'This sign-in was already used or has expired.', 400 );

	// A random login, because the author page shows the login publicly.
	$new  = array( 'user_login' => 'user-' . bin2hex( random_bytes( 6 ) ), 'user_email' => $result->email, 'role' => 'subscriber' );
	$id   = email_exists( $result->email ) ?: wp_insert_user( $new + array( 'user_pass' => wp_generate_password( 40 ) ) );
	$user = is_wp_error( $id ) ? $id : apply_filters( 'wp_authenticate_user', get_user_by( 'id', $id ), '' );
	email_login_require( ! is_wp_error( $user ), 'This account is disabled.', 403 );
	// In a multisite network, a session is valid on every site.
	$roles = is_multisite() || is_super_admin( $user->ID ) ? array( 'administrator' ) : $user->roles;
	email_login_require( ! array_diff( $roles, EMAIL_LOGIN_ROLES ), 'This account must sign in with its password.', 403 );

	// First verification of this address: remove the password and sessions, which may belong to someone else.
	if ( update_user_meta( $user->ID, 'email_login_proved', $result->email ) ) {
		wp_set_password( wp_generate_password( 40 ), $user->ID );
		WP_Application_Passwords::delete_all_application_passwords( $user->ID );
		WP_Session_Tokens::get_instance( $user->ID )->destroy_all();
	}
	email_login_keep( '', 1 );
	// WordPress names the website in this cookie (COOKIEHASH), and signs it with a key of its own.
	wp_set_auth_cookie( $user->ID );
	do_action( 'wp_login', $user->user_login, $user );
	wp_safe_redirect( home_url( email_login_path() ) );
}

function email_login_account() {
	if ( ! is_user_logged_in() ) {
		return wp_safe_redirect( home_url( '__LOGIN__?return_to=/account' ) );
	}
	$form = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Account</title>__STYLE__'
		. '<p>Signed in as %s</p><form method="post" action="%s"><button>Log out</button></form></html>';
	printf( $form, esc_html( wp_get_current_user()->user_email ), wp_nonce_url( home_url( '/logout' ), 'email_login_end' ) );
}

function email_login_end() {
	check_admin_referer( 'email_login_end' );
	wp_logout();
	wp_safe_redirect( home_url( '/' ) );
}

/** Keeps the state of a sign-in in a cookie; with a time in the past, deletes it. */
function email_login_keep( $state, $until ) {
	$flags = array( 'path' => '/', 'secure' => '' !== email_login_prefix(), 'httponly' => true, 'samesite' => 'Lax' );
	setcookie( email_login_prefix() . 'wordpress_login_state', $state, $flags + array( 'expires' => $until ) );
}

/** Returns the state that the browser has, or null; an empty one when there are two, of which one may be from another subdomain. */
function email_login_kept() {
	$name  = email_login_prefix() . 'wordpress_login_state';
	$count = preg_match_all( "/(?:^|; ?)$name=([^;]*)/", $_SERVER['HTTP_COOKIE'] ?? '', $found );
	return $count > 1 ? '' : $found[1][0] ?? null;
}

/** Another subdomain cannot set a cookie with this prefix. */
function email_login_prefix() {
	return 0 === strpos( home_url(), 'https:' ) ? '__Host-' : '';
}

function email_login_url() {
	return home_url( '__LOGIN__?' . http_build_query( array( 'return_to' => email_login_path() ) ) );
}

/** Returns the path of this website to return to. Browsers take "//" and "\" for the start of another website. */
function email_login_path() {
	$path = wp_unslash( $_GET['return_to'] ?? '' );
	$path = is_string( $path ) ? $path : '';
	return preg_match( '~^/(?![/\\\\])[^\\\\\x00-\x1f\x7f]{0,999}$~D', $path ) ? $path : '/account';
}

/** Ends the request with an error page and a link to try again if the condition is false. */
function email_login_require( $condition, $reason, $status ) {
	$condition || wp_die( esc_html( $reason ), '', array( 'response' => $status, 'link_url' => email_login_url(), 'link_text' => 'Try again' ) );
}
