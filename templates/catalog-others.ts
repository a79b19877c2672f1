import type { Framework, Layout } from './framework.ts';

const requirement = (name: string) => ['requirements.txt', 'pyproject.toml', 'Pipfile'].map((file) => ({ file, contains: name }));
const source = (contains: string, ...files: string[]) => files.map((file) => ({ file, contains }));

const LOAD_IN_SHELL = 'Load the environment into the shell before you start the app: `set -a; . ./.env; set +a`.';
const ROLE = 'Login, callback, account, logout';

/** Makes a directory for the packages of Python, and installs one. */
const newPython = (packages: string, ...then: string[]) => [
  'python3 -m venv .venv',
  '. .venv/bin/activate',
  `pip install ${packages}`,
  ...then,
];

/** Where apps of Python start, if not in `$ENTRY`. */
const PYTHON_ENTRIES = ['app.py', 'main.py', 'wsgi.py', 'asgi.py', 'application.py', 'run.py', 'server.py', 'hello.py'];

/** In a package, the integration is beside the file that creates the app. */
const packageLayout = (directory: string, ...entries: string[]): Layout => ({
  hint: `If your app is the package \`${directory}\`, put the file into its directory.`,
  exists: entries.map((entry) => `${directory}/${entry}`),
  without: PYTHON_ENTRIES,
  from: 'email_login',
  to: `${directory}/email_login`,
});

/** Match the call that creates the app. One over several lines ends with the first line that ends with `)`. */
const CREATES_FLASK = /^[ \t]*(?<app>\w+)(?:: Flask)? = Flask\((?:.*[^,\s]$|(?:.*,)?\n(?:.*[^)\n]\n)*?.*\)$)/m;
const CREATES_FASTAPI = /^[ \t]*(?<app>\w+)(?:: FastAPI)? = FastAPI\((?:.*[^,\s]$|(?:.*,)?\n(?:.*[^)\n]\n)*?.*\)$)/m;

/** The frameworks in all other languages. */
export const otherFrameworks: readonly Framework[] = [
  {
    id: 'flask',
    name: 'Flask',
    language: 'Python',
    files: [{ source: 'email_login.py', path: 'email_login.py', role: ROLE }],
    commands: [],
    wiring: [
      {
        files: ['$ENTRY', ...PYTHON_ENTRIES, '*/__init__.py'],
        after: CREATES_FLASK,
        insert: '$APP.register_blueprint(email_login)',
        import: 'from email_login import email_login',
        unless: 'register_blueprint(email_login)',
        instead: 'Add it to your app: `from email_login import email_login; app.register_blueprint(email_login)`.',
      },
    ],
    next: [
      'Guard your views with `@signed_in_only` from `email_login`; `session["signed_in_email"]` is the email address.',
      'An app with its own `SECRET_KEY` keeps it: on https, it needs at least 32 characters. Set `SESSION_COOKIE_NAME="__Host-session"` there, so that no other subdomain can set the cookie.',
    ],
    newProject: {
      commands: newPython('flask'),
      files: [
        { source: 'email_login.py', path: 'email_login.py', role: ROLE },
        { source: 'app.py', path: 'app.py', role: 'Entry file' },
      ],
      start: ['flask run --port __PORT__'],
    },
    port: 5000,
    detectedBy: [
      ...requirement('flask'),
      ...source('Flask(', ...PYTHON_ENTRIES, 'app/__init__.py', 'flaskr/__init__.py', 'src/app.py', 'src/main.py'),
    ],
    layouts: [packageLayout('app', '__init__.py'), packageLayout('flaskr', '__init__.py')],
  },
  {
    id: 'fastapi',
    name: 'FastAPI',
    language: 'Python',
    files: [{ source: 'email_login.py', path: 'email_login.py', role: ROLE }],
    commands: [],
    wiring: [
      {
        files: ['$ENTRY', ...PYTHON_ENTRIES, 'app/main.py'],
        after: CREATES_FASTAPI,
        insert: '$APP.include_router(email_login)',
        import: 'from email_login import email_login',
        unless: 'include_router(email_login)',
        instead: 'Add it to your app: `from email_login import email_login; app.include_router(email_login)`.',
      },
    ],
    next: ['Guard your paths: `email: str = Depends(signed_in_email)`, from `email_login`.'],
    newProject: {
      commands: newPython('fastapi uvicorn'),
      files: [
        { source: 'email_login.py', path: 'email_login.py', role: ROLE },
        { source: 'main.py', path: 'main.py', role: 'Entry file' },
      ],
      start: ['uvicorn main:app --port __PORT__'],
    },
    port: 8000,
    detectedBy: [...requirement('fastapi'), ...source('FastAPI(', ...PYTHON_ENTRIES, 'app/main.py')],
    layouts: [packageLayout('app', 'main.py')],
  },
  {
    id: 'django',
    name: 'Django',
    language: 'Python',
    files: [{ source: 'email_login.py', path: 'email_login.py', role: ROLE }],
    commands: ['python manage.py migrate'],
    wiring: [
      {
        // Only the URLs of the project contain those of the admin site.
        files: ['*/urls.py'],
        after: /^ +path\(["']admin\/["'], admin\.site\.urls\),/m,
        insert: "path('', include('email_login')),",
        import: 'from django.urls import include',
        unless: 'email_login',
        instead: "Put it beside `manage.py` and add to `urlpatterns`: `path('', include('email_login'))`.",
      },
      {
        files: ['*/settings.py'],
        after: /^ROOT_URLCONF = /m,
        insert: "LOGIN_URL = 'email_login'",
        unless: 'LOGIN_URL',
        instead: "Let `@login_required` redirect to it: `LOGIN_URL = 'email_login'` in the settings.",
      },
    ],
    next: [
      'Guard your views with `@signed_in_only` from `email_login`, which is `@login_required` for this website alone. It uses the sessions and users of Django.',
      'On https, set `SESSION_COOKIE_SECURE = True` and `SESSION_COOKIE_NAME = "__Host-sessionid"`, so that no other subdomain can set the cookie.',
      'Staff accounts can only sign in with their password; for any other account, a sign-in by email removes its password.',
    ],
    newProject: {
      commands: newPython('django', 'django-admin startproject shop .'),
      files: [
        { source: 'email_login.py', path: 'email_login.py', role: ROLE },
        { source: 'urls.py', path: 'shop/urls.py', role: 'URLs' },
      ],
      start: ['python manage.py migrate', 'python manage.py runserver __PORT__'],
    },
    ownSessions: true,
    port: 8000,
    detectedBy: [{ file: 'manage.py' }],
    rank: 3,
  },
  {
    id: 'go',
    name: 'Go',
    language: 'Go',
    files: [{ source: 'email_login.go', path: 'email_login.go', role: ROLE }],
    commands: [],
    wiring: [
      {
        files: ['$ENTRY', 'main.go', 'server.go'],
        after: /^\t+(?<app>\w+) := http\.NewServeMux\(\)/m,
        insert: 'AddEmailLogin($APP)',
        otherwise: {
          // Routes of the default mux; a function over several lines ends with `})`.
          after: /^\thttp\.HandleFunc\((?:.*\)$|.*\{\n(?:\t\t.*\n|\n)*\t\}\))/m,
          insert: 'AddEmailLogin(http.DefaultServeMux)',
        },
        unless: 'AddEmailLogin(',
        instead: 'Add it to your `http.ServeMux`: `AddEmailLogin(mux)`, or `AddEmailLogin(http.DefaultServeMux)`.',
      },
    ],
    next: [
      'Guard your pages: `mux.HandleFunc("/orders", SignedInOnly(orders))`, with the email address as the third parameter of `orders`.',
      'It needs Go 1.18 or newer. Its first line is `package main`: change it if your package has a different name.',
    ],
    newProject: {
      commands: ['go mod init shop'],
      files: [
        { source: 'email_login.go', path: 'email_login.go', role: ROLE },
        { source: 'main.go', path: 'main.go', role: 'Entry file' },
      ],
      start: ['go run .'],
    },
    port: 8080,
    detectedBy: [{ file: 'go.mod' }, ...source('net/http', 'main.go', 'server.go')],
    rank: 1,
  },
  {
    id: 'php',
    name: 'PHP',
    language: 'PHP',
    files: [{ source: 'email-login.php', path: 'email-login.php', role: ROLE }],
    commands: [],
    wiring: [
      {
        files: ['index.php', 'public/index.php'],
        // Below the session of the app, whose name and settings it uses.
        after: /^[ \t]*session_start\(.*\);/m,
        insert: "require __DIR__ . '/email-login.php';",
        otherwise: {
          // These statements must come first in a file.
          after: /^<\?php[ \t]*\n(?:\s*\/\*(?:[^*]|\*(?!\/))*\*\/)?(?:\s*declare\(strict_types=[01]\);)?(?:\s*namespace [\w\\]+;)?/,
          insert: "require __DIR__ . '/email-login.php';",
        },
        unless: 'email-login.php',
        instead: "Start your front controller with `require __DIR__ . '/email-login.php';`, below its own `session_start()`.",
      },
    ],
    next: [
      'Guard your pages: `$email = EmailLogin\\signedInEmail();`. It uses the session of your app, if there is one.',
      'On https, set `session.name = __Host-session` and `session.cookie_secure = 1` in `php.ini`, so that no other subdomain can set the cookie.',
    ],
    newProject: {
      commands: [],
      files: [
        { source: 'email-login.php', path: 'email-login.php', role: ROLE },
        { source: 'index.php', path: 'index.php', role: 'Front controller' },
      ],
      start: ['php -S localhost:__PORT__ index.php'],
    },
    ownSessions: true,
    port: 8000,
    detectedBy: [{ file: 'index.php' }, { file: 'public/index.php' }],
    rank: 1,
    layouts: [
      {
        hint: 'If your front controller is `public/index.php`, put the file beside it.',
        exists: ['public/index.php'],
        without: ['index.php'],
        from: 'email-login',
        to: 'public/email-login',
      },
    ],
  },
  {
    id: 'sinatra',
    name: 'Sinatra',
    language: 'Ruby',
    files: [{ source: 'email_login.rb', path: 'email_login.rb', role: ROLE }],
    commands: [],
    wiring: [
      {
        files: ['$ENTRY', 'app.rb', 'main.rb', 'server.rb', 'myapp.rb', 'web.rb', 'config.ru'],
        after: /^class \w{1,50} < Sinatra::(?:Base|Application)/m,
        insert: '  register EmailLogin',
        import: 'require_relative "email_login"',
        otherwise: {
          after: /^require ["']sinatra["']/m,
          insert: 'register EmailLogin',
          import: 'require_relative "email_login"',
        },
        unless: 'EmailLogin',
        instead:
          'Add it to your app: `require_relative "email_login"`, and `register EmailLogin` in its class, or below `require "sinatra"`.',
      },
    ],
    next: ['Guard your routes: `email = signed_in_email`.'],
    newProject: {
      commands: ['bundle init', 'bundle config set --local path vendor/bundle', 'bundle add sinatra rackup puma'],
      files: [
        { source: 'email_login.rb', path: 'email_login.rb', role: ROLE },
        { source: 'app.rb', path: 'app.rb', role: 'Entry file' },
      ],
      start: ['bundle exec ruby app.rb -p __PORT__'],
    },
    port: 4567,
    detectedBy: [
      { file: 'Gemfile', contains: 'sinatra' },
      ...source('sinatra', 'app.rb', 'main.rb', 'server.rb', 'myapp.rb', 'web.rb', 'config.ru'),
    ],
  },
  {
    id: 'laravel',
    name: 'Laravel',
    language: 'PHP',
    files: [
      { source: 'EmailLoginController.php', path: 'app/Http/Controllers/EmailLoginController.php', role: 'Login, callback, logout' },
      { source: 'SignedInOnly.php', path: 'app/Http/Middleware/SignedInOnly.php', role: 'Guard' },
      { source: 'routes.php', path: 'routes/email-login.php', role: 'Routes' },
      { source: 'account.blade.php', path: 'resources/views/email-login/account.blade.php', role: 'Protected page' },
      { source: 'refused.blade.php', path: 'resources/views/email-login/refused.blade.php', role: 'Page for a rejected sign-in' },
      { source: 'emailauth.php', path: 'config/emailauth.php', role: 'Settings' },
    ],
    commands: ['php artisan migrate'],
    wiring: [
      {
        files: ['routes/web.php'],
        after: /^use Illuminate\\Support\\Facades\\Route;/m,
        insert: "\nrequire base_path('routes/email-login.php');",
        unless: 'routes/email-login.php',
        instead: "Add to `routes/web.php`: `require base_path('routes/email-login.php');`",
      },
    ],
    next: [
      'If your app has a route with the name `login` already, remove the name in `routes/email-login.php`.',
      'Guard your routes: `->middleware(SignedInOnly::class)`, which is `auth` for this website alone. It uses the sessions and users of Laravel.',
      'On https, set `SESSION_SECURE_COOKIE=true` and `SESSION_COOKIE=__Host-session` in `.env`, so that no other subdomain can set the cookie.',
      'Access to a mailbox is enough to sign in to its account, also for administrators: protect administrative pages with a second factor.',
    ],
    ownSessions: true,
    port: 8000,
    detectedBy: [{ file: 'artisan' }, { file: 'composer.json', contains: 'laravel/framework' }],
    rank: 3,
  },
  {
    id: 'rails',
    name: 'Ruby on Rails',
    language: 'Ruby',
    files: [
      { source: 'email_login_controller.rb', path: 'app/controllers/email_login_controller.rb', role: 'Login, callback, logout' },
      { source: 'signed_in.rb', path: 'app/controllers/concerns/signed_in.rb', role: 'Guard' },
      { source: 'routes.rb', path: 'config/routes/email_login.rb', role: 'Routes' },
      { source: 'account.html.erb', path: 'app/views/email_login/account.html.erb', role: 'Protected page' },
      { source: 'refused.html.erb', path: 'app/views/email_login/refused.html.erb', role: 'Page for a rejected sign-in' },
    ],
    commands: [],
    wiring: [
      {
        files: ['config/routes.rb'],
        after: /^Rails\.application\.routes\.draw do/m,
        insert: '  draw :email_login',
        unless: 'draw :email_login',
        instead: 'Add to `config/routes.rb` (Rails 6.1 or newer): `draw :email_login`.',
      },
    ],
    next: [
      'Guard your controllers: `include SignedIn`; `signed_in_email` returns the email address.',
      'Keep `config.force_ssl = true` in `config/environments/production.rb`: it sets the Secure flag of the session cookie. With `config.session_store :cookie_store, key: "__Host-session"` there, no other subdomain can set it.',
    ],
    ownSessions: true,
    loadEnv: `${LOAD_IN_SHELL} The gem dotenv-rails does this automatically.`,
    port: 3000,
    detectedBy: [{ file: 'Gemfile', contains: 'rails' }, { file: 'bin/rails' }],
    rank: 3,
  },
  {
    id: 'wordpress',
    name: 'WordPress',
    language: 'PHP',
    files: [
      {
        source: 'email-login.php',
        path: 'wp-content/plugins/email-login/email-login.php',
        role: 'Plugin: login, callback, account, logout',
      },
    ],
    commands: [],
    next: [
      'Activate the plugin Email Login. Permalinks must not be set to Plain.',
      'Guard your own pages with `is_user_logged_in()`: visitors are WordPress users, new ones subscribers.',
      "Only subscribers and customers can sign in by email, and no one in a multisite network. To allow more roles, add to `wp-config.php`: `define( 'EMAIL_LOGIN_ROLES', array( 'subscriber', 'editor' ) );`",
      'The first sign-in by email to an existing account removes its password and its other sessions.',
      "It does not read `.env`. To use a different service, add to `wp-config.php`: `define( 'EMAILAUTH_URL', 'https://auth.example.com' );`",
    ],
    ownSessions: true,
    ownSettings: true,
    port: 8080,
    detectedBy: [
      ...['wp-config.php', 'wp-config-sample.php', 'wp-load.php', 'wp-content/index.php'].map((file) => ({ file })),
      { file: 'composer.json', contains: 'roots/wordpress' },
    ],
    rank: 3,
    layouts: [
      { hint: 'In Bedrock, `wp-content` is `web/app`.', exists: ['web/app'], without: ['wp-content'], from: 'wp-content/', to: 'web/app/' },
    ],
  },
];
