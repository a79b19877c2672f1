import { type Recipe, runs } from '../recipe.ts';

/** The Ruby that the gems of Debian are for. */
export const ruby = process.env.TEMPLATE_RUBY ?? 'ruby';
const requires = (...names: string[]) => runs(ruby, '-e', names.map((name) => `require "${name}"`).join(';'));

/** What `rails new --minimal --skip-bundle` makes, as far as a sign-in needs it. */
const RAILS = {
  Gemfile: 'gem "rails"\n',
  'bin/rails': `APP_PATH = File.expand_path("../config/application", __dir__)
require "rails/commands"`,
  'config.ru': 'require_relative "config/environment"\nrun Rails.application',
  'config/application.rb': `require "rails"
require "action_controller/railtie"
module Site
  class Application < Rails::Application
    config.load_defaults Rails::VERSION::STRING.to_f
    config.filter_parameters += [:passw, :secret, :token]
  end
end`,
  'config/environment.rb': 'require_relative "application"\nRails.application.initialize!',
  'config/environments/development.rb': 'Rails.application.configure { config.eager_load = false }',
  'config/routes.rb': `Rails.application.routes.draw do
  root to: proc { [200, { "Content-Type" => "text/html" }, ['<a href="/login">Login with Email</a>']] }
  draw :email_login
end`,
  'app/controllers/application_controller.rb': 'class ApplicationController < ActionController::Base\nend',
};

/** The Ruby templates, each around the few lines that its framework's own starter has. */
export const rubyRecipes: Recipe[] = [
  {
    id: 'sinatra',
    debianPackages: ['ruby-sinatra', 'ruby-webrick'],
    available: () => requires('sinatra/base', 'webrick'),
    around: {
      'config.ru': `require_relative "email_login"
class App < Sinatra::Base
  register EmailLogin
  get("/") { '<a href="/login">Login with Email</a>' }
end
run App`,
    },
    command: [ruby, '-S', 'rackup', '--host', '127.0.0.1', '--port', '{port}', '--server', 'webrick'],
  },
  {
    id: 'rails',
    debianPackages: ['bundler', 'puma', 'ruby-byebug', 'ruby-rails'],
    available: () => requires('rails', 'action_controller/railtie', 'puma', 'active_record', 'bundler', 'byebug'),
    around: RAILS,
    command: [ruby, 'bin/rails', 'server', '--binding', '127.0.0.1', '--port', '{port}', '--pid', 'tmp/{port}.pid'],
  },
];
