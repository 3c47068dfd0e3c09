package web

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"flowdrive/engine/account"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
)

// SignOn is a provider at which people log in, and who they are here.
type SignOn interface {
	// Host names the provider.
	Host() string
	// Begin returns the address to which a browser is sent: errs.Unavailable.
	Begin(ctx context.Context, state, nonce, verifier string) (address string, err error)
	// Finish returns whom the code that the browser brings back logs in: errs.LogIn,
	// errs.Unavailable.
	Finish(ctx context.Context, code, nonce, verifier string) (identity.Principal, error)
	// End returns the address at which the user logs out there, "" for none.
	End(ctx context.Context, by identity.Principal) string
}

// away is a log-in that is under way at the provider.
type away struct {
	nonce, verifier, next string
	until                 time.Time
}

// ways are the log-ins that are under way, by state, in memory.
type ways struct {
	mu sync.Mutex
	of map[string]away
}

const (
	mostAway  = 10_000
	awayLife  = 10 * time.Minute
	awayName  = "fd-login" // the cookie with the state: a log-in ends in the browser in which it has begun
	signOnWay = "/login/oidc"
)

func (w *ways) put(state string, one away) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.of) >= mostAway {
		clear(w.of)
	}
	w.of[state] = one
}

// take returns the log-in of the state, which is over then.
func (w *ways) take(state string, now time.Time) (one away, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, ok = w.of[state]
	delete(w.of, state)
	return one, ok && now.Before(one.until)
}

func signOnPages() []page {
	return []page{
		{pattern: signOnWay, open: true, query: []string{"next"}, draw: beginSignOn},
		{pattern: signOnWay + "/callback", open: true, query: []string{"code", "state", "error", "error_description", "error_uri", "session_state", "iss", "scope", "authuser", "prompt", "hd", "client_info"}, draw: finishSignOn},
	}
}

// beginSignOn sends the browser to the provider.
func beginSignOn(x *visit) error {
	if x.SignOn == nil {
		return absent()
	}
	state, nonce, verifier := account.NewToken(), account.NewToken(), oauth2.GenerateVerifier()
	to, err := x.SignOn.Begin(x.r.Context(), state, nonce, verifier)
	if err != nil {
		return refuseSignOn(x, err)
	}
	x.ways.put(state, away{nonce: nonce, verifier: verifier, next: localPath(x.query.Get("next")), until: x.Wall().Add(awayLife)})
	http.SetCookie(x.w, awayCookie(state, x.secure()))
	return x.redirect(to)
}

// awayCookie keeps the state, "" to forget it.
func awayCookie(state string, secure bool) *http.Cookie {
	c := &http.Cookie{Name: awayName, Value: state, Path: signOnWay, MaxAge: int(awayLife.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure}
	if state == "" {
		c.MaxAge = -1
	}
	return c
}

// finishSignOn logs in whom the provider has sent back.
func finishSignOn(x *visit) error {
	if x.SignOn == nil {
		return absent()
	}
	state := x.query.Get("state")
	kept, err := x.r.Cookie(awayName)
	one, ok := x.ways.take(state, x.Wall())
	http.SetCookie(x.w, awayCookie("", x.secure()))
	switch {
	case !ok || err != nil || kept.Value != state || state == "":
		return refuseSignOn(x, errs.New(errs.LogIn, "This log-in was not begun in this browser, or took longer than ten minutes. Begin again."))
	case x.query.Has("error"):
		return refuseSignOn(x, errs.New(errs.LogIn, "The provider has refused the log-in (%s).", errs.Clip(x.query.Get("error"), 60)))
	}
	by, err := x.SignOn.Finish(x.r.Context(), x.query.Get("code"), one.nonce, one.verifier)
	if err != nil {
		return refuseSignOn(x, err)
	}
	return enter(x, by, &loginView{Next: one.next})
}

// refuseSignOn shows the form of the log-in with why it was refused.
func refuseSignOn(x *visit, err error) error {
	e := asProblem(err)
	if e == nil {
		return err
	}
	if e.Err != nil {
		x.Log.Warn().Err(e.Err).Msg("log-in at the provider: " + e.Detail)
	}
	x.status = x.Status(e.Kind)
	return x.draw("login.html", head{Title: "Log in", Bare: true}, loginView{Host: x.r.Host, Refuse: e.Detail, Provider: x.SignOn.Host()})
}

// signOnAddress leads to the provider and then on to next.
func signOnAddress(next string) string {
	if next == "" {
		return signOnWay
	}
	return signOnWay + "?next=" + url.QueryEscape(next)
}
