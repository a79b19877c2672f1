// A stage of its own: its websites run outside of the worker.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from '../../support/harness.ts';
import { freshAddress, openLink, requestEmail } from '../../support/sign-ins.ts';
import type { Recipe } from './recipe.ts';
import { recipes } from './recipes/all.ts';
import { makeSite, type RunningSite, type Site } from './site.ts';

const MAKING = 540_000;

/**
 * Apps with sessions of their own: "/cart" stores a value in the session, "/" shows it. Each has a name for its cookie that no
 * template has.
 */
const apps: Record<string, Record<string, string>> = {
  flask: {
    'app.py': `from flask import Flask, session
from email_login import email_login
app = Flask(__name__)
app.secret_key = "secret of the app"
app.config.update(SESSION_COOKIE_NAME="shop", SESSION_COOKIE_SAMESITE="Strict", SESSION_COOKIE_PATH="/")
app.register_blueprint(email_login)
@app.get("/cart")
def cart():
    session["cart"] = "apples"
    return "stored"
@app.get("/")
def home():
    return f"{session.get('cart')}, {app.secret_key}, {app.config['SESSION_COOKIE_SECURE']}"`,
  },
  fastapi: {
    'main.py': `from fastapi import FastAPI, Request
from starlette.middleware.sessions import SessionMiddleware
from email_login import email_login
app = FastAPI()
app.include_router(email_login)
app.add_middleware(SessionMiddleware, secret_key="secret of the app", session_cookie="shop", same_site="strict")
@app.get("/cart")
def cart(request: Request):
    request.session["cart"] = "apples"
@app.get("/")
def home(request: Request):
    return request.session.get("cart")`,
  },
  sinatra: {
    'config.ru': `require_relative "email_login"
class App < Sinatra::Base
  register EmailLogin
  set :sessions, key: "shop", same_site: :strict
  set :session_secret, "s" * 64
  get("/cart") { session[:cart] = "apples" }
  get("/") { session[:cart].to_s }
end
run App`,
  },
  php: {
    'index.php': `<?php
session_name('shop');
session_start(['cookie_samesite' => 'Strict', 'cookie_httponly' => true]);
require 'email-login.php';
if ($_SERVER['REQUEST_URI'] === '/cart') {
    $_SESSION['cart'] = 'apples';
}
echo $_SESSION['cart'] ?? '';`,
  },
  django: {
    'site_urls.py': `from django.http import HttpResponse
from django.urls import include, path
from django.conf import settings
settings.SESSION_COOKIE_NAME = "shop"
settings.SESSION_COOKIE_SAMESITE = "Strict"
def cart(request):
    request.session["cart"] = "apples"
    return HttpResponse("stored")
urlpatterns = [
    path("", include("email_login")),
    path("cart", cart),
    path("", lambda request: HttpResponse(request.session.get("cart", ""))),
]`,
  },
  rails: {
    'config/initializers/session_store.rb':
      'Rails.application.config.session_store :cookie_store, key: "shop", same_site: :strict, httponly: true',
    'app/controllers/shop_controller.rb': `class ShopController < ApplicationController
  def cart
    session[:cart] = "apples"
    head :ok
  end
  def home = render(plain: session[:cart].to_s)
end`,
    'config/routes.rb': `Rails.application.routes.draw do
  draw :email_login
  get "/cart", to: "shop#cart"
  root to: "shop#home"
end`,
  },
};

let stage: Stage;
let service: Service;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
});
afterAll(() => stage?.close());

const withOwnSessions = recipes
  .filter(({ id, available }) => apps[id] && available())
  .map((recipe): Recipe => ({ ...recipe, around: { ...recipe.around, ...apps[recipe.id] } }));

describe.each(withOwnSessions)('an app with sessions of its own and the template $id', (recipe) => {
  let made: Site;
  let site: RunningSite;
  beforeAll(async () => {
    made = await makeSite(recipe, service.url);
    site = await made.start();
  }, MAKING);
  afterAll(async () => {
    await site?.close();
    await made?.remove();
  });

  test('keeps the settings and the data of its session over a sign-in', async () => {
    const [visitor, browser, email] = [site.client(), service.client(), freshAddress()];
    const stored = await visitor.get('/cart');
    expect(stored.setCookies.join()).toMatch(/^shop=.*SameSite=Strict/i);
    const before = (await visitor.get('/')).text;
    expect(before).toContain('apples');
    if (recipe.id === 'flask') expect(before).toBe('apples, secret of the app, False');

    const page = new URL(String((await visitor.get('/login')).headers.location));
    await requestEmail(browser, email, page.searchParams.get('forward_url') ?? '');
    const response = await visitor.get(await openLink(browser, await stage.mailbox.waitFor(email)));
    for (const cookie of response.setCookies) if (cookie.startsWith('shop=')) expect(cookie).toMatch(/SameSite=Strict/i);
    expect((await visitor.get('/account')).text).toContain(`Signed in as ${email}`);
    expect((await visitor.get('/')).text).toBe(before);
  });

  // The session of Laravel and Django belongs to their users.
  test.runIf(['flask', 'php', 'rails'].includes(recipe.id))('does not pass the data of a visitor to the next one', async () => {
    const visitor = site.client();
    for (const email of [freshAddress(), freshAddress()]) {
      const browser = service.client();
      const page = new URL(String((await visitor.get('/login')).headers.location));
      await requestEmail(browser, email, page.searchParams.get('forward_url') ?? '');
      await visitor.get(await openLink(browser, await stage.mailbox.waitFor(email)));
      expect((await visitor.get('/account')).text).toContain(`Signed in as ${email}`);
      expect((await visitor.get('/')).text).not.toContain('apples');
      await visitor.get('/cart');
    }
  });
});
