package notify

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"flowdrive/engine/outbox"
	"flowdrive/internal/identity"
	"flowdrive/route"
)

// Binding is what a secret may be used for. Its zero value bounds nothing but the text of
// a mail, which would show the secret to its author.
type Binding struct {
	Hosts   Hosts           // that may get it; none: all that routes may call
	Mail    Readers         // whom a mail may show it to
	Authors []identity.Name // users and teams whose routes may use it; none: all
	Routes  []string        // that may use it; none: all
}

// Readers are addresses, and domains of addresses.
type Readers struct {
	addresses []string // in lower case
	domains   Domains
}

// ParseReaders reads e-mail addresses and domains. One error has all faults, a line each.
func ParseReaders(texts []string) (r Readers, err error) {
	var domains []string
	for _, text := range texts {
		if validAddress(text) {
			r.addresses = append(r.addresses, strings.ToLower(text))
			continue
		}
		domains = append(domains, text)
	}
	if r.domains, err = ParseDomains(domains); err != nil {
		err = fmt.Errorf("%w, nor is it an e-mail address", err)
	}
	return r, err
}

// none reports whether nobody is among them.
func (r Readers) none() bool { return len(r.addresses)+len(r.domains.items) == 0 }

// have reports whether an address is one of them.
func (r Readers) have(address string) bool {
	return slices.Contains(r.addresses, strings.ToLower(address)) || r.domains.have(address)
}

// Bound returns the secrets, each with what it may be used for. One that has no
// binding is bound as the zero Binding.
func (s Secrets) Bound(bindings map[string]Binding) Secrets {
	s.bindings = map[string]Binding{}
	for name, b := range bindings {
		s.bindings[FoldSecret(name)] = b
	}
	return s
}

// refusesAuthor says why an author may not use a secret so, "" if the author may. The
// settings themselves may use each.
func (s Secrets) refusesAuthor(by *outbox.Author, use route.ReachKind, name string) string {
	if by == nil {
		return ""
	}
	b := s.bindings[FoldSecret(name)]
	ofMail := use == route.ReachSecretBody || use == route.ReachSecretMail
	switch {
	case ofMail && FoldSecret(name) == FoldSecret(defaultSecret):
		return "signs requests, so that no mail can have it"
	case len(b.Routes) > 0 && !slices.ContainsFunc(b.Routes, func(r string) bool { return identity.Fold(r) == identity.Fold(by.Route) }):
		return "is for other routes; an administrator adds this one under routes of the secret in the setting secrets"
	case len(b.Authors) > 0 && !by.In(b.Authors):
		return "may be used only by routes of others" + older(by) + "; an administrator adds the author under authors of the secret in the setting secrets"
	case use == route.ReachSecretBody && b.Mail.none() && len(b.Authors) == 0 && !by.Admin:
		return "cannot be the text of a mail, because the route was not stored by an administrator of the server" + older(by) + "; an administrator says who may read it, under mail of the secret in the setting secrets"
	}
	return ""
}

// older says why an author is not known.
func older(by *outbox.Author) string {
	if !by.Older {
		return ""
	}
	return " (who stored the version of this case is not known, because the route has a newer one: migrate the case to it)"
}

// refusesHost says why a secret may not be sent to the host of a URL, "" if it may.
func (s Secrets) refusesHost(name string, to *url.URL) string {
	b := s.bindings[FoldSecret(name)]
	if len(b.Hosts.items) == 0 || b.Hosts.refuses(to) == "" {
		return ""
	}
	return fmt.Sprintf("may not be sent to %s; an administrator adds the host under hosts of the secret in the setting secrets", to.Host)
}

// refusesReaders says why a mail to those addresses may not have the secret as its text,
// "" if it may.
func (s Secrets) refusesReaders(name string, to []string) string {
	b := s.bindings[FoldSecret(name)]
	if b.Mail.none() {
		return "" // its author may send it to anybody
	}
	for _, address := range to {
		if !b.Mail.have(address) {
			return "may be mailed only to those under mail of the secret in the setting secrets, and not to all to whom this mail goes"
		}
	}
	return ""
}
