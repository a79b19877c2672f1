/**
 * What `composer create-project laravel/laravel` makes, as far as a sign-in needs it, on Debian's framework (Laravel 8): Debian
 * has the framework without the starter, and its autoloader in the place of Composer's.
 */
export const laravelStarter: Record<string, string> = {
  'vendor/autoload.php': `<?php
require 'Illuminate/autoload.php';
require 'GuzzleHttp/autoload.php';
spl_autoload_register(function ($class) {
    $file = dirname(__DIR__).'/app/'.str_replace('\\\\', '/', substr($class, 4)).'.php';
    if (str_starts_with($class, 'App\\\\') && is_file($file)) {
        require $file;
    }
});`,
  'bootstrap/app.php': `<?php
$app = new Illuminate\\Foundation\\Application(dirname(__DIR__));
$app->singleton(Illuminate\\Contracts\\Http\\Kernel::class, App\\Http\\Kernel::class);
$app->singleton(Illuminate\\Contracts\\Console\\Kernel::class, Illuminate\\Foundation\\Console\\Kernel::class);
$app->singleton(Illuminate\\Contracts\\Debug\\ExceptionHandler::class, Illuminate\\Foundation\\Exceptions\\Handler::class);
return $app;`,
  'bootstrap/cache/.gitignore': '*\n',
  'storage/framework/sessions/.gitignore': '*\n',
  'storage/framework/views/.gitignore': '*\n',
  'storage/logs/.gitignore': '*\n',
  artisan: `<?php
require __DIR__.'/vendor/autoload.php';
$app = require __DIR__.'/bootstrap/app.php';
exit($app->make(Illuminate\\Contracts\\Console\\Kernel::class)->handle(
    new Symfony\\Component\\Console\\Input\\ArgvInput, new Symfony\\Component\\Console\\Output\\ConsoleOutput
));`,
  'public/index.php': `<?php
require __DIR__.'/../vendor/autoload.php';
$app = require __DIR__.'/../bootstrap/app.php';
$kernel = $app->make(Illuminate\\Contracts\\Http\\Kernel::class);
$response = $kernel->handle($request = Illuminate\\Http\\Request::capture())->send();
$kernel->terminate($request, $response);`,
  'app/Http/Kernel.php': `<?php
namespace App\\Http;
class Kernel extends \\Illuminate\\Foundation\\Http\\Kernel
{
    protected $middleware = [
        \\Illuminate\\Foundation\\Http\\Middleware\\TrimStrings::class,
        \\Illuminate\\Foundation\\Http\\Middleware\\ConvertEmptyStringsToNull::class,
    ];
    protected $middlewareGroups = ['web' => [
        \\Illuminate\\Cookie\\Middleware\\EncryptCookies::class,
        \\Illuminate\\Cookie\\Middleware\\AddQueuedCookiesToResponse::class,
        \\Illuminate\\Session\\Middleware\\StartSession::class,
        \\Illuminate\\View\\Middleware\\ShareErrorsFromSession::class,
        \\Illuminate\\Foundation\\Http\\Middleware\\VerifyCsrfToken::class,
        \\Illuminate\\Routing\\Middleware\\SubstituteBindings::class,
    ]];
    protected $routeMiddleware = ['auth' => Middleware\\Authenticate::class];
}`,
  'app/Http/Middleware/Authenticate.php': `<?php
namespace App\\Http\\Middleware;
class Authenticate extends \\Illuminate\\Auth\\Middleware\\Authenticate
{
    protected function redirectTo($request)
    {
        return route('login');
    }
}`,
  'app/Http/Controllers/Controller.php': `<?php
namespace App\\Http\\Controllers;
class Controller extends \\Illuminate\\Routing\\Controller
{
}`,
  'app/Models/User.php': `<?php
namespace App\\Models;
class User extends \\Illuminate\\Foundation\\Auth\\User
{
    protected $fillable = ['name', 'email', 'password'];
    protected $hidden = ['password', 'remember_token'];
    protected $casts = ['email_verified_at' => 'datetime'];
}`,
  'app/Providers/RouteServiceProvider.php': `<?php
namespace App\\Providers;
use Illuminate\\Support\\Facades\\Route;
class RouteServiceProvider extends \\Illuminate\\Foundation\\Support\\Providers\\RouteServiceProvider
{
    public function boot()
    {
        $this->routes(fn () => Route::middleware('web')->group(base_path('routes/web.php')));
    }
}`,
  'database/migrations/2014_10_12_000000_create_users_table.php': `<?php
use Illuminate\\Database\\Migrations\\Migration;
use Illuminate\\Database\\Schema\\Blueprint;
use Illuminate\\Support\\Facades\\Schema;
return new class extends Migration
{
    public function up()
    {
        Schema::create('users', function (Blueprint $table) {
            $table->id();
            $table->string('name');
            $table->string('email')->unique();
            $table->timestamp('email_verified_at')->nullable();
            $table->string('password');
            $table->rememberToken();
            $table->timestamps();
        });
    }
};`,
  'config/app.php': `<?php
return [
    'name' => 'Site', 'env' => 'local', 'debug' => true, 'url' => 'http://localhost', 'timezone' => 'UTC', 'locale' => 'en',
    'fallback_locale' => 'en', 'key' => env('APP_KEY'), 'cipher' => 'AES-256-CBC',
    'providers' => [
        Illuminate\\Auth\\AuthServiceProvider::class,
        Illuminate\\Bus\\BusServiceProvider::class,
        Illuminate\\Cache\\CacheServiceProvider::class,
        Illuminate\\Foundation\\Providers\\ConsoleSupportServiceProvider::class,
        Illuminate\\Cookie\\CookieServiceProvider::class,
        Illuminate\\Database\\DatabaseServiceProvider::class,
        Illuminate\\Encryption\\EncryptionServiceProvider::class,
        Illuminate\\Filesystem\\FilesystemServiceProvider::class,
        Illuminate\\Foundation\\Providers\\FoundationServiceProvider::class,
        Illuminate\\Hashing\\HashServiceProvider::class,
        Illuminate\\Queue\\QueueServiceProvider::class,
        Illuminate\\Session\\SessionServiceProvider::class,
        Illuminate\\Translation\\TranslationServiceProvider::class,
        Illuminate\\Validation\\ValidationServiceProvider::class,
        Illuminate\\View\\ViewServiceProvider::class,
        App\\Providers\\RouteServiceProvider::class,
    ],
];`,
  'config/auth.php': `<?php
return [
    'defaults' => ['guard' => 'web', 'passwords' => 'users'],
    'guards' => ['web' => ['driver' => 'session', 'provider' => 'users']],
    'providers' => ['users' => ['driver' => 'eloquent', 'model' => App\\Models\\User::class]],
];`,
  'config/cache.php': "<?php\nreturn ['default' => 'array', 'stores' => ['array' => ['driver' => 'array']]];",
  'config/database.php': `<?php
return [
    'default' => 'sqlite',
    'connections' => ['sqlite' => ['driver' => 'sqlite', 'database' => database_path('database.sqlite'), 'prefix' => '']],
    'migrations' => 'migrations',
];`,
  'config/logging.php': `<?php
return ['default' => 'errorlog', 'deprecations' => 'null', 'channels' => [
    'errorlog' => ['driver' => 'errorlog'],
    'null' => ['driver' => 'monolog', 'handler' => Monolog\\Handler\\NullHandler::class],
]];`,
  'config/session.php': `<?php
return [
    'driver' => 'file', 'lifetime' => 120, 'expire_on_close' => false, 'encrypt' => false, 'files' => storage_path('framework/sessions'),
    'connection' => null, 'table' => 'sessions', 'store' => null, 'lottery' => [2, 100], 'cookie' => 'laravel_session', 'path' => '/',
    'domain' => null, 'secure' => env('SESSION_SECURE_COOKIE'), 'http_only' => true, 'same_site' => 'lax',
];`,
  'config/view.php': "<?php\nreturn ['paths' => [resource_path('views')], 'compiled' => storage_path('framework/views')];",
  'routes/web.php': `<?php
Illuminate\\Support\\Facades\\Route::get('/', fn () => '<a href="/login">Login with Email</a>');
require base_path('routes/email-login.php');`,
};
