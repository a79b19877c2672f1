package main

import (
	"cmp"
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
	"strings"
	"time"
)

var (
	authURL       = cmp.Or(os.Getenv("EMAILAUTH_URL"), "__ORIGIN__")
	site, siteErr = url.Parse(strings.TrimRight(cmp.Or(os.Getenv("SITE_URL"), "__SITE__"), "/"))
	secret        = []byte(os.Getenv("SESSION_SECRET"))
	client        = &http.Client{Timeout: 5 * time.Second}
)

// AddAuth adds the sign-in routes to mux.
func AddAuth(mux *http.ServeMux) {
	if siteErr != nil || len(secret) < 32 {
		panic("set SITE_URL to the address of the website and SESSION_SECRET to at least 32 random characters")
	}
	mux.HandleFunc("GET /login", login)
	mux.HandleFunc("GET __CALLBACK__", callback)
	mux.HandleFunc("GET /account", SignedInOnly(account))
	mux.HandleFunc("POST /logout", logout)
}

func login(w http.ResponseWriter, r *http.Request) {
	random := make([]byte, 24)
	rand.Read(random) // Never fails.
	state := base64.RawURLEncoding.EncodeToString(random)
	setCookie(w, "login_state", state, 15*time.Minute)
	query := url.Values{"forward_url": {site.String() + "__CALLBACK__?state=" + state}, "language": {"__LANGUAGE__"}}
	http.Redirect(w, r, authURL+"/auth?"+query.Encode(), http.StatusSeeOther)
}

func callback(w http.ResponseWriter, r *http.Request) {
	token, state := r.FormValue("token"), r.FormValue("state")
	// The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
	if expected, err := r.Cookie("login_state"); err != nil || token == "" || state == "" || !hmac.Equal([]byte(expected.Value), []byte(state)) {
		refuse(w, "This sign-in is not valid in this browser.", http.StatusBadRequest)
	} else if email, err := verify(token); err != nil {
		refuse(w, "Sign-in is not available at the moment.", http.StatusServiceUnavailable)
	} else if email == "" {
		refuse(w, "This sign-in was already used or has expired.", http.StatusBadRequest)
	} else {
		setCookie(w, "login_state", "", -time.Second)
		until := time.Now().Add(7 * 24 * time.Hour)
		setCookie(w, "session", sign(until.Format(time.RFC3339)+" "+email), time.Until(until))
		http.Redirect(w, r, "/account", http.StatusSeeOther)
	}
}

// verify consumes the token. It returns the email address, "" if the token is invalid, or an error if the service is unavailable.
func verify(token string) (string, error) {
	query := url.Values{"token": {token}, "domain": {site.Hostname()}}
	response, err := client.Get(authURL + "/api/verify-token?" + query.Encode())
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("verify-token returned %s", response.Status)
	}
	var result struct{ Email string }
	err = json.NewDecoder(response.Body).Decode(&result)
	return result.Email, err
}

// SignedInOnly wraps a page that requires a sign-in and passes it the email address.
func SignedInOnly(page func(w http.ResponseWriter, r *http.Request, email string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if cookie, err := r.Cookie("session"); err == nil {
			signed, _ := base64.RawURLEncoding.DecodeString(cookie.Value)
			text := string(signed[:max(0, len(signed)-sha256.Size)])
			until, email, _ := strings.Cut(text, " ")
			expiry, err := time.Parse(time.RFC3339, until)
			if err == nil && hmac.Equal([]byte(cookie.Value), []byte(sign(text))) && time.Now().Before(expiry) {
				page(w, r, email)
				return
			}
		}
		http.Redirect(w, r, "/login", http.StatusSeeOther)
	}
}

// sign returns the text followed by its HMAC, encoded for a cookie.
func sign(text string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum([]byte(text)))
}

func account(w http.ResponseWriter, _ *http.Request, email string) {
	fmt.Fprintf(w, `<p>Signed in as %s</p><form method="post" action="/logout"><button>Log out</button></form>`, html.EscapeString(email))
}

func logout(w http.ResponseWriter, r *http.Request) {
	setCookie(w, "session", "", -time.Second)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func refuse(w http.ResponseWriter, reason string, status int) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `<p>%s <a href="/login">Try again</a></p>`, reason)
}

func setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(life.Seconds()),
		HttpOnly: true, Secure: site.Scheme == "https", SameSite: http.SameSiteLaxMode})
}
