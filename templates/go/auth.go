package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const week = 7 * 24 * time.Hour

var (
	authURL = env("EMAILAUTH_URL", "__ORIGIN__")
	siteURL = env("SITE_URL", "__SITE__")
	secret  = []byte(env("SESSION_SECRET", ""))
	client  = &http.Client{Timeout: 5 * time.Second}
)

// AddAuth adds the routes of the sign-in to mux.
func AddAuth(mux *http.ServeMux) {
	if len(secret) < 32 {
		panic("set SESSION_SECRET to a random value of at least 32 characters")
	}
	mux.HandleFunc("GET /login", login)
	mux.HandleFunc("GET __CALLBACK__", callback)
	mux.HandleFunc("POST /logout", logout)
	mux.HandleFunc("GET /account", SignedInOnly(account))
}

func login(w http.ResponseWriter, r *http.Request) {
	bytes := make([]byte, 24)
	rand.Read(bytes) // never fails (crypto/rand)
	state := base64.RawURLEncoding.EncodeToString(bytes)
	setCookie(w, "login_state", state, 15*time.Minute)
	question := url.Values{"forward_url": {siteURL + "__CALLBACK__?state=" + state}, "language": {"__LANGUAGE__"}}
	http.Redirect(w, r, authURL+"/auth?"+question.Encode(), http.StatusSeeOther)
}

func callback(w http.ResponseWriter, r *http.Request) {
	token, state := r.FormValue("token"), r.FormValue("state")
	// The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
	if own, err := r.Cookie("login_state"); err != nil || token == "" || state == "" || own.Value != state {
		refuse(w, "This sign-in is not valid in this browser.", http.StatusBadRequest)
		return
	}
	email, err := verify(token)
	if err != nil {
		refuse(w, "Sign-in is not available at the moment.", http.StatusServiceUnavailable)
		return
	}
	if email == "" {
		refuse(w, "This sign-in is used up or too old.", http.StatusBadRequest)
		return
	}
	setCookie(w, "login_state", "", -time.Second)
	body := base64.RawURLEncoding.EncodeToString([]byte(email)) + "." + strconv.FormatInt(time.Now().Add(week).Unix(), 10)
	setCookie(w, "session", body+"."+sign(body), week)
	http.Redirect(w, r, "/account", http.StatusSeeOther)
}

// verify uses the token up and returns whose it is, "" when it is not valid, or an error when the service did not say.
func verify(token string) (string, error) {
	site, err := url.Parse(siteURL)
	if err != nil {
		return "", err
	}
	question := url.Values{"token": {token}, "domain": {site.Hostname()}}
	response, err := client.Get(authURL + "/api/verify-token?" + question.Encode())
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("verify-token answered %s", response.Status)
	}
	var answer struct{ Email string }
	err = json.NewDecoder(response.Body).Decode(&answer)
	return answer.Email, err
}

// SignedInOnly guards every page that needs a visitor, and tells it who that is.
func SignedInOnly(page func(http.ResponseWriter, *http.Request, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if email, ok := unseal(r); ok {
			page(w, r, email)
			return
		}
		http.Redirect(w, r, "/login", http.StatusSeeOther)
	}
}

func account(w http.ResponseWriter, _ *http.Request, email string) {
	fmt.Fprintf(w, `<p>Signed in as %s</p><form method="post" action="/logout"><button>Log out</button></form>`, html.EscapeString(email))
}

func logout(w http.ResponseWriter, r *http.Request) {
	setCookie(w, "session", "", -time.Second)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func unseal(r *http.Request) (string, bool) {
	cookie, err := r.Cookie("session")
	if err != nil {
		return "", false
	}
	parts := strings.Split(cookie.Value, ".")
	if len(parts) != 3 || !hmac.Equal([]byte(parts[2]), []byte(sign(parts[0]+"."+parts[1]))) {
		return "", false
	}
	until, _ := strconv.ParseInt(parts[1], 10, 64)
	email, _ := base64.RawURLEncoding.DecodeString(parts[0])
	return string(email), time.Now().Unix() < until
}

func sign(text string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	secure := strings.HasPrefix(siteURL, "https:")
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(life / time.Second),
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	})
}

func refuse(w http.ResponseWriter, reason string, status int) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<p>%s <a href="/login">Try again</a></p>`, reason)
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
