/** The files of the apps that the frameworks' own tutorials begin with, as their documentation has them. */
export const sources = {
  'flask-app': {
    'app.py': `from flask import Flask

app = Flask(__name__)

@app.route("/")
def hello_world():
    return "<p>Hello, World!</p>"
`,
  },
  'flask-factory': {
    'flaskr/__init__.py': `import os

from flask import Flask


def create_app(test_config=None):
    # create and configure the app
    app = Flask(__name__, instance_relative_config=True)
    app.config.from_mapping(
        SECRET_KEY='dev',
        DATABASE=os.path.join(app.instance_path, 'flaskr.sqlite'),
    )

    if test_config is None:
        # load the instance config, if it exists, when not testing
        app.config.from_pyfile('config.py', silent=True)
    else:
        # load the test config if passed in
        app.config.from_mapping(test_config)

    # ensure the instance folder exists
    try:
        os.makedirs(app.instance_path)
    except OSError:
        pass

    # a simple page that says hello
    @app.route('/hello')
    def hello():
        return 'Hello, World!'

    return app
`,
  },
  'fastapi-main': {
    'main.py': `from fastapi import FastAPI

app = FastAPI()


@app.get("/")
async def root():
    return {"message": "Hello World"}
`,
  },
  'fastapi-package': {
    'app/__init__.py': '',
    'app/main.py': `from fastapi import FastAPI

from .routers import items

app = FastAPI()


app.include_router(items.router)
`,
    'app/routers/__init__.py': '',
    'app/routers/items.py': `from fastapi import APIRouter

router = APIRouter(
    prefix="/items",
    tags=["items"],
)


@router.get("/")
async def read_items():
    return [{"name": "Plumbus"}]
`,
  },
  'go-default-mux': {
    'go.mod': 'module example.com/hello\n\ngo 1.19\n',
    'main.go': `package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
)

func handler(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "Hi there, I love %s!", r.URL.Path[1:])
}

func main() {
	http.HandleFunc("/", handler)
	log.Fatal(http.ListenAndServe(":"+os.Getenv("PORT"), nil))
}
`,
  },
  'go-mux': {
    'go.mod': 'module example.com/hello\n\ngo 1.23\n',
    'main.go': `package main

import (
	"fmt"
	"net/http"
	"os"
)

type apiHandler struct{}

func (apiHandler) ServeHTTP(http.ResponseWriter, *http.Request) {}

func main() {
	mux := http.NewServeMux()
	mux.Handle("/api/", apiHandler{})
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		// The "/" pattern matches everything, so we need to check
		// that we're at the root here.
		if req.URL.Path != "/" {
			http.NotFound(w, req)
			return
		}
		fmt.Fprintf(w, "Welcome to the home page!")
	})
	http.ListenAndServe(":"+os.Getenv("PORT"), mux)
}
`,
  },
  'php-index': {
    'index.php': `<?php

session_name('shop');
session_start();

switch (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
    case '/':
        echo 'Home';
        break;
    default:
        http_response_code(404);
        echo 'Not found';
}
`,
  },
  'php-public': {
    'public/index.php': `<?php

declare(strict_types=1);

namespace Shop;

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($path === '/') {
    echo 'Home';
} else {
    http_response_code(404);
    echo 'Not found';
}
`,
  },
  'sinatra-classic': {
    'myapp.rb': `# myapp.rb
require 'sinatra'

get '/' do
  'Hello world!'
end
`,
  },
  'sinatra-modular': {
    'myapp.rb': `require 'sinatra/base'

class MyApp < Sinatra::Base
  set :sessions, true
  set :foo, 'bar'

  get '/' do
    'Hello world!'
  end

  # start the server if ruby file executed directly
  run! if app_file == $0
end
`,
  },
};
