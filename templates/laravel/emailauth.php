<?php

return [
    'url' => env('EMAILAUTH_URL', '__ORIGIN__'),
    'site' => rtrim(env('SITE_URL', '__SITE__'), '/'),
];
