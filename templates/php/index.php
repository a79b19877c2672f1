<?php
declare(strict_types=1);

require __DIR__ . '/email-login.php';

EmailLogin\page('<a href="__LOGIN__">Login with Email</a>');
