package main

import (
	"fmt"
	"log"
	"net/http"
)

func main() {
	mux := http.NewServeMux()
	AddEmailLogin(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, emailLoginPage, `<a href="__LOGIN__">Login with Email</a>`)
	})
	log.Println("Listening at http://localhost:__PORT__")
	log.Fatal(http.ListenAndServe("localhost:__PORT__", mux))
}
