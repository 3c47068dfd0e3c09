// Package signon asks the directories of an organisation who somebody is: a provider of
// OpenID Connect, to which browsers are sent. It knows nothing of what is stored.
package signon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
)

// Person is who a directory says that somebody is.
type Person struct {
	Origin   string // the directory and the name that never changes there
	Name     string // as they may be called here
	FullName string
	Email    string
	Groups   []string
}

// OIDCConfig is how a provider of OpenID Connect is reached. Issuer, ClientID and Callback
// are required.
type OIDCConfig struct {
	Issuer      string
	ClientID    string
	Secret      string // "" for a public client
	Callback    string // the address to which the provider sends browsers back
	NameClaim   string // the claim with the user name; "" is preferred_username
	GroupsClaim string // the claim with the groups; "" is groups
}

// OIDC is a provider of OpenID Connect. It is asked when it is needed first, so that a
// server starts without it.
type OIDC struct {
	cfg    OIDCConfig
	client *http.Client

	mu      sync.Mutex
	found   *oidc.Provider
	refused error // why the last log-in has shown that nobody can log in; nil: it has not
}

const (
	answersWithin = 10 * time.Second
	mostGroups    = 10_000
)

// NewOIDC returns the provider. Nothing is asked yet.
func NewOIDC(cfg OIDCConfig) *OIDC {
	if cfg.NameClaim == "" {
		cfg.NameClaim = "preferred_username"
	}
	if cfg.GroupsClaim == "" {
		cfg.GroupsClaim = "groups"
	}
	return &OIDC{cfg: cfg, client: &http.Client{Timeout: answersWithin}}
}

// CheckIssuer says what is wrong with the address of a provider, nil for nothing.
func CheckIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return fmt.Errorf("%q is not a valid address of a provider; copy its issuer, such as https://login.example.org/realms/firm", issuer)
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()):
		return nil
	}
	return fmt.Errorf("%q must begin with https://, because what the provider says is believed", issuer)
}

// Host names the provider to people.
func (o *OIDC) Host() string {
	if u, err := url.Parse(o.cfg.Issuer); err == nil {
		return u.Hostname()
	}
	return o.cfg.Issuer
}

// provider returns what the provider says of itself, which is asked until it has answered.
func (o *OIDC) provider(ctx context.Context) (*oidc.Provider, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.found != nil {
		return o.found, nil
	}
	found, err := o.ask(context.WithoutCancel(ctx))
	if mismatch, is := errors.AsType[*oidc.IssuerMismatchError](err); is {
		return nil, &errs.Error{Kind: errs.Unavailable, Detail: "The provider calls itself something else than oidc-issuer does; an administrator has to copy the issuer letter by letter.", Err: mismatch}
	}
	if err != nil {
		return nil, o.away(err)
	}
	o.found = found
	return found, nil
}

// ask asks the provider what it says of itself.
func (o *OIDC) ask(ctx context.Context) (*oidc.Provider, error) {
	return oidc.NewProvider(oidc.ClientContext(ctx, o.client), o.cfg.Issuer)
}

// Look returns why nobody can log in by the provider, as far as is known: it is asked what it
// says of itself, also if it has said it before, so are the addresses of its keys and tokens,
// and the last log-in counts. Why has the error in words.
func (o *OIDC) Look(ctx context.Context) error {
	p, err := o.ask(ctx)
	if err != nil {
		return err
	}
	if err := o.lookAt(ctx, p); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.refused
}

// note notes how a log-in has ended whose fault is not that of one person, nil if it was good.
func (o *OIDC) note(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refused = err
}

// away is what people are told if the provider does not answer as it should.
func (o *OIDC) away(err error) error {
	return &errs.Error{Kind: errs.Unavailable, Detail: "The log-in of " + o.Host() + " does not answer. Try again in a moment; who is logged in stays so, and app passwords work.", Err: err}
}

// Issuer is what the provider calls itself.
func (o *OIDC) Issuer() string { return o.cfg.Issuer }

// Check asks the provider what it says of itself, and the addresses of its keys and tokens, for
// those who run the server.
func (o *OIDC) Check(ctx context.Context) error {
	p, err := o.provider(ctx)
	if err == nil {
		if err = o.lookAt(ctx, p); err != nil {
			return fmt.Errorf("the provider %s: %w; look at the network and at the certificate of that address", o.cfg.Issuer, err)
		}
	}
	if e, is := errors.AsType[*errs.Error](err); is && e.Err != nil {
		return fmt.Errorf("the provider %s: %w; look at oidc-issuer, at the network and at its certificate", o.cfg.Issuer, e.Err)
	}
	return err
}

func (o *OIDC) flow(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: o.cfg.ClientID, ClientSecret: o.cfg.Secret, Endpoint: p.Endpoint(), RedirectURL: o.cfg.Callback,
		Scopes: []string{oidc.ScopeOpenID, "profile", "email"},
	}
}

// Begin returns the address to which a browser is sent to log in. state, nonce and verifier
// are secrets of this log-in. Errors: errs.Unavailable.
func (o *OIDC) Begin(ctx context.Context, state, nonce, verifier string) (string, error) {
	p, err := o.provider(ctx)
	if err != nil {
		return "", err
	}
	return o.flow(p).AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), nil
}

// Finish exchanges the code that a browser has brought back for who its user is. Errors:
// errs.LogIn if the provider takes the code for none, or its answer is not to be believed;
// errs.Unavailable.
func (o *OIDC) Finish(ctx context.Context, code, nonce, verifier string) (*Person, error) {
	p, err := o.provider(ctx)
	if err != nil {
		return nil, err
	}
	ctx = oidc.ClientContext(ctx, o.client)
	token, err := o.flow(p).Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		return nil, o.noToken(err)
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, notBelieved("it sent no ID token", nil)
	}
	checked, err := p.Verifier(&oidc.Config{ClientID: o.cfg.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, o.nobody(notBelieved(o.whyInvalid(ctx, p, raw), err))
	}
	if checked.Nonce != nonce {
		return nil, notBelieved("its ID token belongs to another log-in", nil)
	}
	claims := map[string]json.RawMessage{}
	if err := checked.Claims(&claims); err != nil {
		return nil, notBelieved("its ID token has no claims", err)
	}
	if !said(claims[o.cfg.NameClaim]) && p.UserInfoEndpoint() != "" {
		info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil || info.Subject != checked.Subject {
			return nil, notBelieved("it does not say who that is", err)
		}
		more := map[string]json.RawMessage{}
		if err := info.Claims(&more); err != nil {
			return nil, notBelieved("it does not say who that is", err)
		}
		for name, value := range more {
			if !said(claims[name]) {
				claims[name] = value
			}
		}
	}
	who, err := o.person(checked, claims)
	if err == nil {
		o.note(nil)
	}
	return who, err
}

// nobody notes an error that each log-in would have, and returns it.
func (o *OIDC) nobody(err error) error {
	o.note(err)
	return err
}

// noToken says why the provider gave no token for a code.
func (o *OIDC) noToken(err error) error {
	refused, is := errors.AsType[*oauth2.RetrieveError](err)
	if !is {
		return o.away(err)
	}
	refused.Body = nil // it is in the text of the error otherwise
	switch {
	case refused.Response.StatusCode >= http.StatusInternalServerError:
		return o.away(err)
	case refused.ErrorCode == "invalid_client" || refused.ErrorCode == "unauthorized_client": // RFC 6749, section 5.2
		return o.nobody(notBelieved("it refuses this server; an administrator has to compare oidc-client-id and oidc-client-secret with what it has: a secret can have expired there", err))
	}
	return notBelieved("it did not take the code; look at oidc-client-id, oidc-client-secret and the address of return that it knows", err)
}

// whyInvalid says what is wrong with an ID token that was not believed.
func (o *OIDC) whyInvalid(ctx context.Context, p *oidc.Provider, raw string) string {
	token, err := p.Verifier(&oidc.Config{SkipClientIDCheck: true, SkipExpiryCheck: true, SkipIssuerCheck: true}).Verify(ctx, raw)
	if err != nil {
		return "its ID token is not valid, or not signed with one of its keys"
	}
	now := clock.Real{}.Now()
	switch {
	case token.Issuer != o.cfg.Issuer:
		return "its ID token is of another provider; an administrator has to copy oidc-issuer from the provider, letter by letter"
	case !slices.Contains(token.Audience, o.cfg.ClientID):
		return "its ID token is for another program; an administrator has to compare oidc-client-id with what it has"
	case token.Expiry.IsZero():
		return "its ID token does not say how long it is valid"
	case token.Expiry.Before(now):
		return fmt.Sprintf("its ID token had expired at %s, and the clock of this server shows %s; an administrator has to set the clocks of both", token.Expiry.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("its ID token is not valid yet, and the clock of this server shows %s; an administrator has to set the clocks of both", now.UTC().Format(time.RFC3339))
}

// said reports whether a claim says anything: some providers send null.
func said(claim json.RawMessage) bool { return claim != nil && string(claim) != "null" }

// person reads the claims.
func (o *OIDC) person(checked *oidc.IDToken, claims map[string]json.RawMessage) (*Person, error) {
	text := func(name string) (s string) {
		if json.Unmarshal(claims[name], &s) != nil {
			return ""
		}
		return s
	}
	who := &Person{
		Origin: "oidc " + checked.Issuer + " " + checked.Subject,
		Name:   text(o.cfg.NameClaim), FullName: text("name"),
	}
	if checked.Subject == "" || who.Name == "" {
		return nil, notBelieved(fmt.Sprintf("it does not say how the user is called (claim %q); look at oidc-name-claim", o.cfg.NameClaim), nil)
	}
	if verified := string(claims["email_verified"]); verified != "false" && verified != `"false"` { // some write it as a text
		who.Email = text("email")
	}
	var groups []any
	if json.Unmarshal(claims[o.cfg.GroupsClaim], &groups) != nil {
		groups = []any{text(o.cfg.GroupsClaim)}
	}
	for _, group := range groups {
		if name, ok := group.(string); ok && name != "" {
			who.Groups = append(who.Groups, name)
		}
	}
	who.Groups = who.Groups[:min(len(who.Groups), mostGroups)]
	slices.Sort(who.Groups)
	return who, nil
}

const notTaken = "The log-in of the provider was not taken: "

func notBelieved(why string, err error) error {
	return &errs.Error{Kind: errs.LogIn, Detail: notTaken + why + ".", Err: err}
}

// End returns the address at which a browser logs out of the provider and comes back, "" if
// the provider has none or does not answer.
func (o *OIDC) End(ctx context.Context, back string) string {
	p, err := o.provider(ctx)
	if err != nil {
		return ""
	}
	var says struct {
		End string `json:"end_session_endpoint"`
	}
	if p.Claims(&says) != nil || says.End == "" {
		return ""
	}
	u, err := url.Parse(says.End)
	if err != nil {
		return ""
	}
	query := u.Query()
	query.Set("client_id", o.cfg.ClientID)
	query.Set("post_logout_redirect_uri", back)
	u.RawQuery = query.Encode()
	return u.String()
}
