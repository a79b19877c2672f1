<?php

namespace App\Http\Middleware;

use Closure;
use Illuminate\Http\Request;

/** Guards routes that require a sign-in; browsers do not keep their pages. */
class SignedInOnly
{
    public function handle(Request $request, Closure $next)
    {
        // Websites with the same key and the same store of sessions accept each other's; this one does not.
        $host = parse_url(config('emailauth.site'), PHP_URL_HOST);
        if (! auth()->check() || $request->session()->get('signed_in_host', $host) !== $host) {
            return redirect()->guest('__LOGIN__');
        }
        $response = $next($request);
        $response->headers->set('Cache-Control', 'no-store');

        return $response;
    }
}
