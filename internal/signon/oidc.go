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

	mu    sync.Mutex
	found *oidc.Provider
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
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), o.client), o.cfg.Issuer)
	if mismatch, is := errors.AsType[*oidc.IssuerMismatchError](err); is {
		return nil, &errs.Error{Kind: errs.Unavailable, Detail: "The provider calls itself something else than oidc-issuer does; an administrator has to copy the issuer letter by letter.", Err: mismatch}
	}
	if err != nil {
		return nil, o.away(err)
	}
	o.found = found
	return found, nil
}

// away is what people are told if the provider does not answer as it should.
func (o *OIDC) away(err error) error {
	return &errs.Error{Kind: errs.Unavailable, Detail: "The log-in of " + o.Host() + " does not answer. Try again in a moment; who is logged in stays so, and app passwords work.", Err: err}
}

// Issuer is what the provider calls itself.
func (o *OIDC) Issuer() string { return o.cfg.Issuer }

// Check asks the provider what it says of itself, for those who run the server.
func (o *OIDC) Check(ctx context.Context) error {
	_, err := o.provider(ctx)
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
	if refused, is := errors.AsType[*oauth2.RetrieveError](err); is {
		refused.Body = nil // it is in the text of the error otherwise
		return nil, notBelieved("it did not take the code; look at oidc-client-id, oidc-client-secret and the address of return that it knows", err)
	}
	if err != nil {
		return nil, o.away(err)
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, notBelieved("it sent no ID token", nil)
	}
	checked, err := p.Verifier(&oidc.Config{ClientID: o.cfg.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, notBelieved("its ID token is not valid; look at the clocks of both, and at oidc-client-id", err)
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
	return o.person(checked, claims)
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

func notBelieved(why string, err error) error {
	return &errs.Error{Kind: errs.LogIn, Detail: "The log-in of the provider was not taken: " + why + ".", Err: err}
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
