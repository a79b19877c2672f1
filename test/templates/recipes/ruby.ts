import { type Recipe, runs } from '../recipe.ts';

export const rubyRecipes: Recipe[] = [
  {
    id: 'sinatra',
    available: () => runs('ruby', '-e', 'require "sinatra/base"; require "webrick"'),
    around: {
      'main.rb': `require_relative "auth"
class App < Auth
  set :server, "webrick"
  set :bind, "127.0.0.1"
  set :port, ENV.fetch("PORT").to_i
  get("/") { %(<a href="/login">Login with Email</a>) }
end
App.run!`,
    },
    command: ['ruby', 'main.rb'],
  },
];
