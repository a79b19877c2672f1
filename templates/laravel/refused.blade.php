<p>{{ $reason }} <a href="{{ route('login') }}">Try again</a></p>
