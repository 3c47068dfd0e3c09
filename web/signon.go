package web

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"flowdrive/engine/account"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// SignOn is a provider at which people log in, and who they are here.
type SignOn interface {
	// Host names the provider to people, Issuer as it calls itself.
	Host() string
	Issuer() string
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
	State, Nonce, Verifier, Next string
	Until                        time.Time
}

// ways keeps the log-ins that are under way: each in a cookie of its browser, which only this
// process can read and write. So there is nothing that strangers could fill.
type ways struct{ seal cipher.AEAD }

const (
	awayLife    = 10 * time.Minute
	awayName    = "fd-login" // the cookie: a log-in ends in the browser in which it has begun
	awayPrefix  = "__Host-"  // by HTTPS: another host of the domain cannot have set it
	longestNext = 1000       // bytes; browsers keep no cookie of more than 4096
	signOnWay   = "/login/oidc"
)

func newWays() (*ways, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails; see crypto/rand
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, errs.Wrap("make a key for log-ins", err)
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	return &ways{seal}, errs.Wrap("make a key for log-ins", err)
}

// put returns what the browser keeps of a log-in.
func (w *ways) put(one away) string {
	if len(one.Next) > longestNext {
		one.Next = ""
	}
	text, _ := json.Marshal(one) // texts and a time
	return base64.RawURLEncoding.EncodeToString(w.seal.Seal(nil, nil, text, []byte(awayName)))
}

// take returns the log-in that a browser has kept, if its time is not over.
func (w *ways) take(kept string, now time.Time) (one away, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(kept)
	if err != nil {
		return one, false
	}
	text, err := w.seal.Open(nil, nil, sealed, []byte(awayName))
	if err != nil || json.Unmarshal(text, &one) != nil {
		return away{}, false
	}
	return one, now.Before(one.Until)
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
	kept := x.ways.put(away{State: state, Nonce: nonce, Verifier: verifier, Next: localPath(x.query.Get("next")), Until: x.Wall().Add(awayLife)})
	http.SetCookie(x.w, awayCookie(kept, x.secure()))
	return x.redirect(to)
}

// awayCookie keeps a log-in that is under way, "" to forget it.
func awayCookie(kept string, secure bool) *http.Cookie {
	c := &http.Cookie{Name: awayNameOf(secure), Value: kept, Path: signOnWay, MaxAge: int(awayLife.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure}
	if secure {
		c.Path = "/" // as the prefix asks
	}
	if kept == "" {
		c.MaxAge = -1
	}
	return c
}

// awayNameOf returns what the cookie is called. An attacker who can set it in the browser of somebody
// else logs them in as themselves.
func awayNameOf(secure bool) string {
	if secure {
		return awayPrefix + awayName
	}
	return awayName
}

// finishSignOn logs in whom the provider has sent back.
func finishSignOn(x *visit) error {
	if x.SignOn == nil {
		return absent()
	}
	var one away
	kept, err := x.r.Cookie(awayNameOf(x.secure()))
	begun := false
	if err == nil {
		one, begun = x.ways.take(kept.Value, x.Wall())
	}
	http.SetCookie(x.w, awayCookie("", x.secure()))
	switch {
	case !begun || one.State != x.query.Get("state"):
		return refuseSignOn(x, errs.New(errs.LogIn, "This log-in was not begun in this browser, or took longer than ten minutes. Begin again."))
	case x.query.Has("iss") && x.query.Get("iss") != x.SignOn.Issuer(): // RFC 9207, section 2.4
		return refuseSignOn(x, errs.New(errs.LogIn, "The answer is not of the provider at which this log-in was begun. Begin again."))
	case x.query.Has("error"):
		return refuseSignOn(x, errs.New(errs.LogIn, "The provider has refused the log-in (%s).", errs.Clip(x.query.Get("error"), 60)))
	}
	by, err := x.SignOn.Finish(x.r.Context(), x.query.Get("code"), one.Nonce, one.Verifier)
	if err != nil {
		return refuseSignOn(x, err)
	}
	return enter(x, by, &loginView{Next: one.Next, kind: store.ByOIDC})
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
	v := loginView{Host: x.r.Host, Provider: x.SignOn.Host()}
	v.refuse(x, e)
	v.Pause = false // nothing was typed here
	return x.draw("login.html", head{Title: "Log in", Bare: true}, v)
}

// signOnAddress leads to the provider and then on to next.
func signOnAddress(next string) string {
	if next == "" {
		return signOnWay
	}
	return signOnWay + "?next=" + url.QueryEscape(next)
}
