<p>Signed in as {{ auth()->user()->email }}</p>
<form method="post" action="{{ route('logout') }}">
    @csrf
    <button>Log out</button>
</form>
