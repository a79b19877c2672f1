<?php

use App\Http\Controllers\EmailLoginController;
use App\Http\Middleware\SignedInOnly;
use Illuminate\Support\Facades\Route;

Route::get('__LOGIN__', [EmailLoginController::class, 'login'])->name('login');
Route::get('__CALLBACK__', [EmailLoginController::class, 'callback']);
Route::view('/account', 'email-login.account')->middleware(SignedInOnly::class);
Route::post('/logout', [EmailLoginController::class, 'logout']);
