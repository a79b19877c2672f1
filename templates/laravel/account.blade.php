<p>Signed in as {{ auth()->user()->email }}</p>
<form method="post" action="{{ url('/logout') }}">
    @csrf
    <button>Log out</button>
</form>
