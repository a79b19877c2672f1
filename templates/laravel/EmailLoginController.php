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
        $request->session()->put('login_state', $state = Str::random(40));
        $question = ['forward_url' => config('emailauth.site')."__CALLBACK__?state=$state", 'language' => '__LANGUAGE__'];

        return redirect()->away(config('emailauth.url').'/auth?'.http_build_query($question));
    }

    public function callback(Request $request)
    {
        [$state, $token, $own] = [$request->query('state'), $request->query('token'), $request->session()->get('login_state')];
        // The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
        $isOwn = is_string($state) && is_string($token) && $own && hash_equals($own, $state);
        abort_unless($isOwn, $this->refusal('This sign-in is not valid in this browser.', 400));

        $question = ['token' => $token, 'domain' => parse_url(config('emailauth.site'), PHP_URL_HOST)];
        $ask = fn () => Http::timeout(5)->get(config('emailauth.url').'/api/verify-token', $question)->throw()->json();
        $answer = rescue($ask, report: false); // A report would have the token in it.
        abort_unless($answer, $this->refusal('Sign-in is not available at the moment.', 503));
        abort_unless($answer['valid'], $this->refusal('This sign-in is used up or too old.', 400));

        $user = User::firstOrNew(['email' => $answer['email']], ['name' => $answer['email']]);
        // The address is proven: a password or a cookie from before, perhaps of somebody else, no longer opens the account.
        if (! $user->hasVerifiedEmail()) {
            $secrets = ['password' => Hash::make(Str::random(40)), 'remember_token' => Str::random(60)];
            $user->forceFill($secrets + ['email_verified_at' => now()])->save();
        }
        auth()->login($user);
        $request->session()->regenerate();
        $request->session()->forget('login_state');

        return redirect('/account');
    }

    public function logout(Request $request)
    {
        auth()->logout();
        $request->session()->invalidate();
        $request->session()->regenerateToken();

        return redirect('/');
    }

    private function refusal(string $reason, int $status)
    {
        return response()->view('email-login.refused', ['reason' => $reason], $status);
    }
}
