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
	key     []byte
	// Names of cookies. On https, with a prefix with which another subdomain cannot set them.
	state, session string
	client         http.Client
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
		w.Header().Set("Cache-Control", "no-store")
		cookie, _ := e.cookieOf(r, e.session)
		text, _, _ := strings.Cut(cookie, ".")
		session, _ := base64.RawURLEncoding.DecodeString(text)
		if fields := strings.SplitN(string(session), " ", 3); len(fields) == 3 && hmac.Equal([]byte(cookie), []byte(e.sign(string(session)))) {
			until, err := time.Parse(time.RFC3339, fields[0])
			if err == nil && time.Now().Before(until) && fields[1] == e.site.Host {
				page(w, r, fields[2])
				return
			}
		}
		http.Redirect(w, r, e.loginFor(r.URL.RequestURI()), http.StatusSeeOther)
	}
}

func newEmailLogin() *emailLogin {
	site, err := url.Parse(strings.TrimRight(emailLoginSetting("SITE_URL", "__SITE__"), "/"))
	if err != nil {
		panic("SITE_URL is not the address of a website")
	}
	secret, prefix := emailLoginSetting("SESSION_SECRET", ""), ""
	if len(secret) < 32 {
		panic("SESSION_SECRET needs at least 32 random characters. Make one: openssl rand -hex 32")
	}
	if site.Scheme == "https" {
		prefix = "__Host-"
	}
	return &emailLogin{
		authURL: emailLoginSetting("EMAILAUTH_URL", "__ORIGIN__"),
		site:    site,
		// A key for sessions alone: whatever else the app signs with its secret is no session.
		key:     []byte("session:" + secret),
		state:   prefix + "login_state",
		session: prefix + "login_session",
		client:  http.Client{Timeout: 5 * time.Second},
	}
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
	e.setCookie(w, e.state, state, time.Hour)
	back := url.Values{"state": {state}, "return_to": {e.localPath(r.FormValue("return_to"))}}
	query := url.Values{"forward_url": {e.site.String() + "__CALLBACK__?" + back.Encode()}, "language": {"__LANGUAGE__"}}
	http.Redirect(w, r, e.authURL+"/auth?"+query.Encode(), http.StatusSeeOther)
}

func (e *emailLogin) callback(w http.ResponseWriter, r *http.Request) {
	token, state, path := r.FormValue("token"), r.FormValue("state"), r.FormValue("return_to")
	expected, isSent := e.cookieOf(r, e.state)
	if token != "" && state != "" && !isSent {
		// The state has expired, or the link was opened in another browser: the sign-in starts over.
		http.Redirect(w, r, e.loginFor(path), http.StatusSeeOther)
		return
	}
	// The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
	if token == "" || state == "" || !hmac.Equal([]byte(expected), []byte(state)) {
		e.refuse(w, "This sign-in is not valid in this browser.", http.StatusBadRequest, path)
	} else if email, err := e.verify(token); err != nil {
		e.refuse(w, "Sign-in is not available at the moment.", http.StatusServiceUnavailable, path)
	} else if email == "" {
		e.refuse(w, "This sign-in was already used or has expired.", http.StatusBadRequest, path)
	} else {
		e.setCookie(w, e.state, "", -time.Second)
		until := time.Now().Add(7 * 24 * time.Hour)
		e.setCookie(w, e.session, e.sign(until.Format(time.RFC3339)+" "+e.site.Host+" "+email), time.Until(until))
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
	mac := hmac.New(sha256.New, e.key)
	mac.Write([]byte(session))
	return base64.RawURLEncoding.EncodeToString([]byte(session)) + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (e *emailLogin) account(w http.ResponseWriter, _ *http.Request, email string) {
	fmt.Fprintf(w, emailLoginPage, `<p>Signed in as `+html.EscapeString(email)+`</p><form method="post" action="/logout"><button>Log out</button></form>`)
}

func (e *emailLogin) logout(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "Use POST.", http.StatusMethodNotAllowed)
		return
	}
	// A form of another website must not sign the visitor out.
	if r.Header.Get("Origin") != e.site.String() && r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		http.Error(w, "Forbidden", http.StatusForbidden)
		return
	}
	e.setCookie(w, e.session, "", -time.Second)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (e *emailLogin) refuse(w http.ResponseWriter, reason string, status int, path string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, emailLoginPage, `<p>`+reason+` <a href="`+e.loginFor(path)+`">Try again</a></p>`)
}

// emailLoginPage is a page in the style of this file's own, around HTML.
const emailLoginPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__%s</html>`

func (e *emailLogin) loginFor(path string) string {
	return "__LOGIN__?return_to=" + url.QueryEscape(e.localPath(path))
}

// localPath returns a path of this website to return to. Browsers take "//" and "\" for the start of another website.
func (e *emailLogin) localPath(path string) string {
	if regexp.MustCompile(`^/([^/\\[:cntrl:]][^\\[:cntrl:]]{0,998})?$`).MatchString(path) {
		return path
	}
	return "/account"
}

// cookieOf returns the value of a cookie, and whether the browser sent one; "" if there are two, of which one may be from another subdomain.
func (e *emailLogin) cookieOf(r *http.Request, name string) (value string, isSent bool) {
	for _, cookie := range r.Cookies() {
		if cookie.Name == name && isSent {
			return "", true
		}
		if cookie.Name == name {
			value, isSent = cookie.Value, true
		}
	}
	return value, isSent
}

func (e *emailLogin) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(life.Seconds()),
		HttpOnly: true, Secure: e.site.Scheme == "https", SameSite: http.SameSiteLaxMode})
}
