import { spawnSync } from 'node:child_process';
import type { Recipe } from '../recipe.ts';

export const goRecipes: Recipe[] = [
  {
    id: 'go',
    // 1.22 brought the patterns with methods.
    available: () => /go1\.(?:2[2-9]|[3-9]\d)/.test(String(spawnSync('go', ['version']).stdout)),
    around: {
      'go.mod': 'module site\n\ngo 1.22\n',
      'main.go': `package main

import (
	"net/http"
	"os"
)

func main() {
	mux := http.NewServeMux()
	AddAuth(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<a href=/login>Login with Email</a>")) })
	http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux)
}
`,
    },
    command: ['go', 'run', '.'],
    env: { GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' },
  },
];
