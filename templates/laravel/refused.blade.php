<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign-in</title>
__STYLE__
<p>{{ $reason }} <a href="{{ $login }}">Try again</a></p>
</html>
