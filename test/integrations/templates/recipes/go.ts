import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import type { Recipe } from '../recipe.ts';

const DEBIAN = '/usr/lib';

/** The first Go that knows patterns with methods (1.22); Debian keeps each release in a directory of its own. */
function findGo(): string | null {
  const releases = readdirSync(DEBIAN).filter((name) => /^go-1\.\d+$/.test(name));
  const candidates = [process.env.TEMPLATE_GO ?? 'go', ...releases.map((name) => `${DEBIAN}/${name}/bin/go`)];
  const isNewEnough = (program: string) => {
    const [, minor = '0'] = /go1\.(\d+)/.exec(String(spawnSync(program, ['version'], { env: ENVIRONMENT }).stdout)) ?? [];
    return Number(minor) >= 22;
  };
  return candidates.find(isNewEnough) ?? null;
}

/** Settings with which Go downloads neither modules nor toolchains: the template needs none. */
export const OFFLINE = { GOTOOLCHAIN: 'local', GOPROXY: 'off' };
const ENVIRONMENT = { PATH: process.env.PATH, HOME: process.env.HOME, ...OFFLINE };
/** The first Go that is new enough, or null. */
export const go = findGo();

const MAIN = `package main

import (
	"log"
	"net/http"
	"os"
)

const home = \`<a href="/login">Login with Email</a>\`

func main() {
	mux := http.NewServeMux()
	AddEmailLogin(mux)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(home)) })
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux))
}
`;

/** The Go template, in a module of nothing else. */
export const goRecipes: Recipe[] = [
  {
    id: 'go',
    debianPackages: ['golang-1.23-go'],
    backports: true,
    available: () => findGo() !== null,
    around: { 'go.mod': 'module site\n\ngo 1.22\n', 'main.go': MAIN },
    build: ['sh', '-c', `${go} vet . && ${go} build -o site .`],
    command: ['./site'],
    env: OFFLINE,
  },
];
