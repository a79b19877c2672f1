/** Who installed the site: an administrator, whom a mailbox alone must not let in. */
export const WORDPRESS_ADMIN = 'admin@mail.example';

/**
 * A WordPress as its installer leaves it, with permalinks, on Debian's package: code from /usr/share/wordpress, content and
 * database in a directory of its own. Debian has no themes without their languages, so this one has a theme of one line.
 */
export const wordpressStarter: Record<string, string> = {
  'wp-config.php': `<?php
define( 'DB_NAME', 'site' );
define( 'DB_USER', 'root' );
define( 'DB_PASSWORD', '' );
define( 'DB_HOST', 'localhost:' . __DIR__ . '/' . getenv( 'DATA' ) . '/socket' );
define( 'DB_CHARSET', 'utf8mb4' );
foreach ( array( 'AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE' ) as $name ) {
	define( $name . '_KEY', 'only for this test' );
	define( $name . '_SALT', 'only for this test, too' );
}
$table_prefix = 'wp_';
define( 'WP_HOME', getenv( 'SITE_URL' ) ?: 'http://localhost' );
define( 'WP_SITEURL', WP_HOME );
define( 'WP_CONTENT_DIR', __DIR__ . '/wp-content' );
define( 'DISABLE_WP_CRON', true );
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
define( 'ABSPATH', '/usr/share/wordpress/' );
require_once ABSPATH . 'wp-settings.php';`,
  'index.php': `<?php
define( 'WP_USE_THEMES', true );
require __DIR__ . '/wp-config.php';
wp();
require ABSPATH . WPINC . '/template-loader.php';`,
  'wp-content/themes/plain/style.css': '/* Theme Name: Plain */',
  'wp-content/themes/plain/index.php': '<a href="/login">Login with Email</a>',
  'install.php': `<?php
mysqli_report( MYSQLI_REPORT_OFF );
for ( $end = time() + 60; ! ( $database = @mysqli_connect( 'localhost', 'root', '', '', 0, __DIR__ . '/data/socket' ) ); usleep( 50000 ) ) {
	time() < $end || exit( 1 );
}
$database->query( 'CREATE DATABASE site' );
define( 'WP_INSTALLING', true );
require __DIR__ . '/wp-config.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
function wp_new_blog_notification() {}
wp_install( 'Site', 'admin', '${WORDPRESS_ADMIN}', true, '', wp_generate_password() );
update_option( 'permalink_structure', '/%postname%/' );
update_option( 'active_plugins', array( 'email-login/email-login.php' ) );
switch_theme( 'plain' );`,
  'database.sh': `exec mariadbd --no-defaults --user="$(id -un)" --datadir="$PWD/$DATA" --socket="$PWD/$DATA/socket" \\
  --skip-grant-tables --skip-networking --innodb-buffer-pool-size=16M --innodb-log-file-size=8M > "$DATA/log" 2>&1
`,
  'install.sh': `set -e
export DATA=data
mkdir data
sh database.sh &
php install.php
kill $!
wait $!
`,
  // Each start has a database of its own, a copy.
  'start.sh': `set -e
export DATA="data-$1"
cp -r data "$DATA"
sh database.sh &
exec php -S "127.0.0.1:$1" index.php
`,
};
