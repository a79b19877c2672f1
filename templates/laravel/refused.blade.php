<p>{{ $reason }} <a href="{{ url('__LOGIN__') }}">Try again</a></p>
