<?php

namespace App\Http\Controllers;

use App\Models\User;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Hash;
use Illuminate\Support\Facades\Http;
use Illuminate\Support\Str;

class EmailLoginController extends Controller
{
    public function login(Request $request)
    {
        // Laravel stores the session on the server; it lasts longer than a sign-in.
        $request->session()->put('login_state', $state = Str::random(40));
        $intended = Str::after($request->session()->pull('url.intended', ''), $request->root());
        $back = http_build_query(['state' => $state, 'return_to' => $this->localPath($request->query('return_to', $intended))]);
        $query = ['forward_url' => config('emailauth.site')."__CALLBACK__?$back", 'language' => '__LANGUAGE__'];

        return redirect()->away(config('emailauth.url').'/auth?'.http_build_query($query));
    }

    public function callback(Request $request)
    {
        [$state, $token, $expected] = [$request->query('state'), $request->query('token'), $request->session()->get('login_state')];
        $isComplete = is_string($state) && is_string($token) && $state !== '' && $token !== '';
        abort_unless($isComplete, $this->refusal('This sign-in is not valid in this browser.', 400));
        // The state has expired, or the link was opened in another browser: the sign-in starts over.
        if (! $expected) {
            return redirect($this->loginUrl());
        }
        // The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
        abort_unless(hash_equals($expected, $state), $this->refusal('This sign-in is not valid in this browser.', 400));

        $query = ['token' => $token, 'domain' => parse_url(config('emailauth.site'), PHP_URL_HOST)];
        $verify = fn () => Http::timeout(5)->get(config('emailauth.url').'/api/verify-token', $query)->throw()->json();
        $result = rescue($verify, report: false); // A report would contain the token.
        abort_unless($result, $this->refusal('Sign-in is not available at the moment.', 503));
        abort_unless($result['valid'], $this->refusal('This sign-in was already used or has expired.', 400));

        $user = User::firstOrNew(['email' => $result['email']], ['name' => $result['email']]);
        // The address is now verified. Invalidate the previous password and cookies, which may belong to someone else.
        if (! $user->hasVerifiedEmail()) {
            $secrets = ['password' => Hash::make(Str::random(40)), 'remember_token' => Str::random(60)];
            $user->forceFill($secrets + ['email_verified_at' => now()])->save();
        }
        auth()->login($user);
        $request->session()->regenerate();
        $request->session()->forget('login_state');
        $request->session()->put('signed_in_host', parse_url(config('emailauth.site'), PHP_URL_HOST));

        return redirect($this->localPath($request->query('return_to')));
    }

    public function logout(Request $request)
    {
        auth()->logout();
        $request->session()->invalidate();
        $request->session()->regenerateToken();

        return redirect('/');
    }

    /** Returns a path of this website to return to. Browsers take "//" and "\" for the start of another website. */
    private function localPath(mixed $path): string
    {
        return is_string($path) && preg_match('~^/(?![/\\\\])[^\\\\\x00-\x1f\x7f]{0,999}$~D', $path) ? $path : '/account';
    }

    private function loginUrl(): string
    {
        return url('__LOGIN__').'?'.http_build_query(['return_to' => $this->localPath(request()->query('return_to'))]);
    }

    private function refusal(string $reason, int $status)
    {
        return response()->view('email-login.refused', ['reason' => $reason, 'login' => $this->loginUrl()], $status);
    }
}
