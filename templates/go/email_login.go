package main

import (
	"bytes"
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
	"regexp"
	"strings"
	"time"
)

type emailLogin struct {
	authURL string
	site    *url.URL
	secret  []byte
	client  http.Client
}

// AddEmailLogin adds the sign-in routes to mux. It panics if a setting is missing or not valid.
func AddEmailLogin(mux *http.ServeMux) {
	e := newEmailLogin()
	// Patterns have methods from Go 1.22 on, unless go.mod names an older Go.
	get, post, probe := "GET ", "POST ", http.NewServeMux()
	probe.HandleFunc("GET /", e.logout)
	if _, pattern := probe.Handler(&http.Request{Method: "GET", URL: &url.URL{Path: "/"}}); pattern == "" {
		get, post = "", ""
	}
	mux.HandleFunc(get+"__LOGIN__", e.login)
	mux.HandleFunc(get+"__CALLBACK__", e.callback)
	mux.HandleFunc(get+"/account", SignedInOnly(e.account))
	mux.HandleFunc(post+"/logout", e.logout)
}

// SignedInOnly wraps a page that requires a sign-in and passes it the email address.
func SignedInOnly(page func(w http.ResponseWriter, r *http.Request, email string)) http.HandlerFunc {
	e := newEmailLogin()
	return func(w http.ResponseWriter, r *http.Request) {
		if cookie, err := r.Cookie("email_login"); err == nil {
			text, _, _ := strings.Cut(cookie.Value, ".")
			session, _ := base64.RawURLEncoding.DecodeString(text)
			until, email, _ := strings.Cut(string(session), " ")
			expiry, err := time.Parse(time.RFC3339, until)
			if err == nil && hmac.Equal([]byte(cookie.Value), []byte(e.sign(string(session)))) && time.Now().Before(expiry) {
				page(w, r, email)
				return
			}
		}
		http.Redirect(w, r, "__LOGIN__?return_to="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
	}
}

func newEmailLogin() *emailLogin {
	site, err := url.Parse(strings.TrimRight(emailLoginSetting("SITE_URL", "__SITE__"), "/"))
	e := &emailLogin{emailLoginSetting("EMAILAUTH_URL", "__ORIGIN__"), site, []byte(emailLoginSetting("SESSION_SECRET", "")), http.Client{Timeout: 5 * time.Second}}
	if err != nil || len(e.secret) < 32 {
		panic("set SITE_URL to the address of the website and SESSION_SECRET to at least 32 random characters, in .env or in the environment")
	}
	return e
}

// emailLoginSetting returns a variable of the environment or of the file .env in the current directory.
func emailLoginSetting(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	text, _ := os.ReadFile(".env")
	if lines := regexp.MustCompile(`(?m)^`+name+`=["']?([^"'\s]+)`).FindAllSubmatch(bytes.TrimPrefix(text, []byte("\ufeff")), -1); lines != nil {
		return string(lines[len(lines)-1][1])
	}
	return fallback
}

func (e *emailLogin) login(w http.ResponseWriter, r *http.Request) {
	random := make([]byte, 24)
	rand.Read(random) // Never fails.
	state := base64.RawURLEncoding.EncodeToString(random)
	e.setCookie(w, "login_state", state+":"+url.QueryEscape(e.localPath(r.FormValue("return_to"))), 15*time.Minute)
	query := url.Values{"forward_url": {e.site.String() + "__CALLBACK__?state=" + state}, "language": {"__LANGUAGE__"}}
	http.Redirect(w, r, e.authURL+"/auth?"+query.Encode(), http.StatusSeeOther)
}

func (e *emailLogin) callback(w http.ResponseWriter, r *http.Request) {
	token, state, expected, returnTo := r.FormValue("token"), r.FormValue("state"), "", ""
	if cookie, err := r.Cookie("login_state"); err == nil {
		expected, returnTo, _ = strings.Cut(cookie.Value, ":")
	}
	// The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
	if token == "" || state == "" || !hmac.Equal([]byte(expected), []byte(state)) {
		e.refuse(w, "This sign-in is not valid in this browser.", http.StatusBadRequest)
	} else if email, err := e.verify(token); err != nil {
		e.refuse(w, "Sign-in is not available at the moment.", http.StatusServiceUnavailable)
	} else if email == "" {
		e.refuse(w, "This sign-in was already used or has expired.", http.StatusBadRequest)
	} else {
		e.setCookie(w, "login_state", "", -time.Second)
		until := time.Now().Add(7 * 24 * time.Hour)
		e.setCookie(w, "email_login", e.sign(until.Format(time.RFC3339)+" "+email), time.Until(until))
		path, _ := url.QueryUnescape(returnTo)
		http.Redirect(w, r, e.localPath(path), http.StatusSeeOther)
	}
}

// verify consumes the token. It returns the email address, "" if the token is invalid, or an error if the service is unavailable.
func (e *emailLogin) verify(token string) (string, error) {
	query := url.Values{"token": {token}, "domain": {e.site.Hostname()}}
	response, err := e.client.Get(e.authURL + "/api/verify-token?" + query.Encode())
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

// sign returns the session and its HMAC, encoded for a cookie.
func (e *emailLogin) sign(session string) string {
	mac := hmac.New(sha256.New, e.secret)
	mac.Write([]byte("email_login " + session))
	return base64.RawURLEncoding.EncodeToString([]byte(session)) + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (e *emailLogin) account(w http.ResponseWriter, _ *http.Request, email string) {
	fmt.Fprintf(w, `<p>Signed in as %s</p><form method="post" action="/logout"><button>Log out</button></form>`, html.EscapeString(email))
}

func (e *emailLogin) logout(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "Use POST.", http.StatusMethodNotAllowed)
		return
	}
	e.setCookie(w, "email_login", "", -time.Second)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (e *emailLogin) refuse(w http.ResponseWriter, reason string, status int) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `<p>%s <a href="__LOGIN__">Try again</a></p>`, reason)
}

// localPath returns a path of this website to return to. Browsers take "//" and "\" for the start of another website.
func (e *emailLogin) localPath(path string) string {
	if regexp.MustCompile(`^/([^/\\[:cntrl:]][^\\[:cntrl:]]{0,998})?$`).MatchString(path) {
		return path
	}
	return "/account"
}

func (e *emailLogin) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(life.Seconds()),
		HttpOnly: true, Secure: e.site.Scheme == "https", SameSite: http.SameSiteLaxMode})
}
