<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Your account</title>
__STYLE__
<p>Signed in as {{ auth()->user()->email }}</p>
<form method="post" action="{{ url('/logout') }}">
    @csrf
    <button>Log out</button>
</form>
</html>
