<?php
/**
 * Plugin Name: Email Login
 * Description: Signs visitors in by a link in an email, without a password.
 * Requires at least: 5.6
 * Requires PHP: 7.4
 */

defined( 'ABSPATH' ) || exit;

defined( 'EMAILAUTH_URL' ) || define( 'EMAILAUTH_URL', getenv( 'EMAILAUTH_URL' ) ?: '__ORIGIN__' );
// Nobody with another role gets in by a mailbox alone: their password, and a second factor, stay in force.
defined( 'EMAIL_LOGIN_ROLES' ) || define( 'EMAIL_LOGIN_ROLES', array( 'subscriber', 'customer' ) );

add_action( 'parse_request', function ( $wp ) {
	$routes = array( 'GET /login' => 'start', 'GET __CALLBACK__' => 'callback', 'GET /account' => 'account', 'POST /logout' => 'end' );
	$route  = $routes[ "{$_SERVER['REQUEST_METHOD']} /$wp->request" ] ?? null;
	if ( $route ) {
		nocache_headers();
		call_user_func( "email_login_$route" );
		exit;
	}
} );

function email_login_start() {
	$state = wp_generate_password( 40, false );
	$flags = array( 'path' => '/', 'secure' => 0 === strpos( home_url(), 'https:' ), 'httponly' => true, 'samesite' => 'Lax' );
	setcookie( 'wordpress_login_state', $state, $flags + array( 'expires' => time() + 15 * MINUTE_IN_SECONDS ) );
	$question = array( 'forward_url' => home_url( "__CALLBACK__?state=$state" ), 'language' => '__LANGUAGE__' );
	wp_redirect( EMAILAUTH_URL . '/auth?' . http_build_query( $question ) );
}

function email_login_callback() {
	$texts = array( $_GET['state'] ?? '', $_GET['token'] ?? '', $_COOKIE['wordpress_login_state'] ?? '' );
	[ $state, $token, $own ] = array_map( 'sanitize_text_field', wp_unslash( $texts ) );
	// The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
	email_login_require( $token && $own && hash_equals( $own, $state ), 'This sign-in is not valid in this browser.', 400 );

	$question = http_build_query( array( 'token' => $token, 'domain' => wp_parse_url( home_url(), PHP_URL_HOST ) ) );
	$response = wp_remote_get( EMAILAUTH_URL . "/api/verify-token?$question", array( 'timeout' => 5 ) );
	$answer   = 200 === wp_remote_retrieve_response_code( $response ) ? json_decode( wp_remote_retrieve_body( $response ) ) : null;
	email_login_require( $answer, 'Sign-in is not available at the moment.', 503 );
	email_login_require( $answer->valid, 'This sign-in is used up or too old.', 400 );

	// A login of its own: the address would be public on the author's page.
	$new  = array( 'user_login' => 'user-' . bin2hex( random_bytes( 6 ) ), 'user_email' => $answer->email, 'role' => 'subscriber' );
	$id   = email_exists( $answer->email ) ?: wp_insert_user( $new + array( 'user_pass' => wp_generate_password( 40 ) ) );
	$user = is_wp_error( $id ) ? $id : apply_filters( 'wp_authenticate_user', get_user_by( 'id', $id ), '' );
	email_login_require( ! is_wp_error( $user ), 'This account is closed.', 403 );
	// In a network a session opens every site of it.
	$roles = is_multisite() || is_super_admin( $user->ID ) ? array( 'administrator' ) : $user->roles;
	email_login_require( ! array_diff( $roles, EMAIL_LOGIN_ROLES ), 'This account needs its password.', 403 );

	// Nobody has proved this address here before: what somebody else may have chosen or kept no longer opens the account.
	if ( update_user_meta( $user->ID, 'email_login_proved', $answer->email ) ) {
		wp_set_password( wp_generate_password( 40 ), $user->ID );
		WP_Application_Passwords::delete_all_application_passwords( $user->ID );
		WP_Session_Tokens::get_instance( $user->ID )->destroy_all();
	}
	setcookie( 'wordpress_login_state', '', 1, '/' );
	wp_set_auth_cookie( $user->ID );
	do_action( 'wp_login', $user->user_login, $user );
	wp_safe_redirect( home_url( '/account' ) );
}

function email_login_account() {
	if ( ! is_user_logged_in() ) {
		return wp_safe_redirect( home_url( '/login' ) );
	}
	$form = '<p>Signed in as %s</p><form method="post" action="%s"><button>Log out</button></form>';
	printf( $form, esc_html( wp_get_current_user()->user_email ), wp_nonce_url( home_url( '/logout' ), 'email_login_end' ) );
}

function email_login_end() {
	check_admin_referer( 'email_login_end' );
	wp_logout();
	wp_safe_redirect( home_url( '/' ) );
}

/** Ends the request with a page that offers to try again, unless the condition holds. */
function email_login_require( $condition, $reason, $status ) {
	$condition || wp_die( esc_html( $reason ), '', array( 'response' => $status, 'link_url' => home_url( '/login' ), 'link_text' => 'Try again' ) );
}
