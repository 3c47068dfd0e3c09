package notify

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine/outbox"
	"flowdrive/internal/document"
	"flowdrive/internal/webhook"
	"flowdrive/route"
)

// Secrets are texts that an administrator has set and no route contains, each by
// its name.
type Secrets struct {
	texts  map[string]string
	folded map[string]string // names by their spelling in the environment

	bindings map[string]Binding // likewise by it
}

const (
	// defaultSecret signs what names no secret.
	defaultSecret = "default"
	// leastKey is how many bytes a key has that signs; less can be guessed from what
	// is signed.
	leastKey = 16
)

// ParseSecrets checks secrets. One error has all faults, a line each. It does not
// contain a secret.
func ParseSecrets(texts map[string]string) (Secrets, error) {
	s := Secrets{texts: maps.Clone(texts), folded: map[string]string{}}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		s.folded[FoldSecret(name)] = name
		switch {
		case texts[name] == "":
			faults = append(faults, fmt.Errorf("%s: is empty", name))
		case name == defaultSecret:
			if _, err := s.signingKey(name); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return s, errors.Join(faults...)
}

// FoldSecret returns the name of a secret as a variable of the environment can have
// it: in capitals, with _ in place of -.
func FoldSecret(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }

// Text returns the secret of that name, or else the one whose name is the same for
// the environment (FoldSecret).
func (s Secrets) Text(name string) (text string, ok bool) {
	if text, ok = s.texts[name]; !ok {
		text, ok = s.texts[s.folded[FoldSecret(name)]]
	}
	return text, ok
}

// Names returns the names of the secrets, in order.
func (s Secrets) Names() []string { return slices.Sorted(maps.Keys(s.texts)) }

// signingKey returns the key that is to sign: the text as it is or, in the form of
// Standard Webhooks, "whsec_" and the key in base64.
func (s Secrets) signingKey(name string) ([]byte, error) {
	text, _ := s.Text(name)
	key, err := webhook.Key(text)
	if err != nil {
		return nil, err
	}
	if len(key) < leastKey {
		return nil, fmt.Errorf("has only %d bytes and can be guessed; what signs needs at least %d", len(key), leastKey)
	}
	return key, nil
}

// RefusesSecret implements outbox.Outside. It does not tell anything of the
// secret.
func (g *Gateway) RefusesSecret(by *outbox.Author, use route.ReachKind, name string) string {
	text, ok := g.Secrets.Text(name)
	if !ok {
		known := g.Secrets.Names()
		return fmt.Sprintf("there is no secret %q%s; an administrator adds it with the setting secrets", name, document.Hint(name, known))
	}
	wrong := ""
	switch use {
	case route.ReachSecret:
		if _, err := g.Secrets.signingKey(name); err != nil {
			wrong = err.Error()
		}
	case route.ReachSecretURL:
		wrong = g.wrongSecretURL(text)
	case route.ReachSecretMail:
		for _, address := range addressesOf(text) {
			if !validAddress(address) {
				wrong = "is not an e-mail address, nor several with commas between them"
			}
		}
	default: // any text will do
	}
	if wrong == "" {
		wrong = g.Secrets.refusesAuthor(by, use, name)
	}
	if wrong == "" && by != nil && use == route.ReachSecretURL {
		if to, err := url.Parse(text); err == nil {
			wrong = g.Secrets.refusesHost(name, to)
		}
	}
	if wrong == "" {
		return ""
	}
	return fmt.Sprintf("the secret %q %s", name, wrong)
}

// signing returns the name of the secret that signs a request, "" for none.
func (g *Gateway) signing(c *outbox.HTTPCall) string {
	if c.Unsigned || c.Secret != "" {
		return c.Secret
	}
	if _, ok := g.Secrets.Text(defaultSecret); ok {
		return defaultSecret
	}
	return ""
}

// signer returns the key that signs a request. It is nil if nothing is to sign it.
func (g *Gateway) signer(by *outbox.Author, c *outbox.HTTPCall) ([]byte, error) {
	name := g.signing(c)
	if name == "" {
		return nil, nil
	}
	if _, err := g.secret(by, route.ReachSecret, name); err != nil {
		return nil, err
	}
	return g.Secrets.signingKey(name)
}

// wrongSecretURL says why a secret cannot be the address of a request, without
// telling what is in it.
func (g *Gateway) wrongSecretURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "":
		return "is not an address such as https://example.org/x"
	case u.User != nil:
		return "is an address with a user and password; give them by the header Authorization"
	case g.hosts().refuses(u) != "":
		return "is an address at a host that routes may not call; an administrator allows it with the setting allow-host"
	}
	return ""
}

// addressesOf returns the e-mail addresses in a secret.
func addressesOf(text string) []string {
	var out []string
	for address := range strings.SplitSeq(text, ",") {
		out = append(out, strings.TrimSpace(address))
	}
	return out
}

// sign makes the header say who sends the body, when, and as which message
// (Standard Webhooks 1.0). Without a key it says the latter two.
func sign(header http.Header, key []byte, id string, now time.Time, body []byte) {
	stamp := strconv.FormatInt(now.Unix(), 10)
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", stamp)
	if key == nil {
		return
	}
	header.Set("Webhook-Signature", webhook.Signature(key, id, stamp, body))
}
