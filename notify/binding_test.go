package notify

import (
	"slices"
	"strings"
	"testing"

	"flowdrive/engine/outbox"
	"flowdrive/internal/identity"
	"flowdrive/route"
)

// authorNamed is an author who is in those teams, besides themselves.
func authorNamed(routeName string, admin bool, in ...string) *outbox.Author {
	return &outbox.Author{Route: routeName, Admin: admin, In: func(names []identity.Name) bool {
		return slices.ContainsFunc(names, func(n identity.Name) bool { return slices.Contains(in, string(n)) })
	}}
}

// TestWhoMayUseASecret: who may use which secret for what, and why others may not.
func TestWhoMayUseASecret(t *testing.T) {
	t.Parallel()
	hosts, err := ParseHosts([]string{"a.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	readers, err := ParseReaders([]string{"ann@partner.example", "*.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := ParseSecrets(map[string]string{
		"default": "0123456789abcdef0123", "plain": "text of it", "read": "text of it", "hr": "text of it",
		"pay": "text of it", "hook": "https://b.example.org/x", "team": "x@partner.example",
	})
	if err != nil {
		t.Fatal(err)
	}
	g := &Gateway{Config: Config{Secrets: secrets.Bound(map[string]Binding{
		"READ": {Mail: readers}, "hr": {Authors: []identity.Name{"hr"}}, "pay": {Routes: []string{"Payroll"}}, "hook": {Hosts: hosts},
	})}}
	all, err := ParseHosts([]string{"*.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	g.allowed.Store(&allowed{hosts: all})
	mallory, admin, hr := authorNamed("lunch", false, "mallory"), authorNamed("lunch", true, "admin"), authorNamed("payroll", false, "ann", "hr")
	older := authorNamed("lunch", false)
	older.Older = true
	for _, tt := range []struct {
		by   *outbox.Author
		use  route.ReachKind
		name string
		want string // "" if it may
	}{
		{mallory, route.ReachSecretText, "plain", ""},
		{mallory, route.ReachSecretBody, "plain", "cannot be the text of a mail"},
		{older, route.ReachSecretBody, "plain", "migrate the case"},
		{hr, route.ReachSecretBody, "plain", "cannot be the text of a mail"},
		{admin, route.ReachSecretBody, "plain", ""},
		{nil, route.ReachSecretBody, "plain", ""},
		{mallory, route.ReachSecretBody, "read", ""},
		{mallory, route.ReachSecretText, "hr", "under authors"},
		{admin, route.ReachSecretText, "hr", "under authors"},
		{hr, route.ReachSecretText, "hr", ""},
		{hr, route.ReachSecretBody, "hr", ""},
		{mallory, route.ReachSecretText, "pay", "under routes"},
		{hr, route.ReachSecretText, "pay", ""},
		{mallory, route.ReachSecretURL, "hook", "may not be sent to b.example.org"},
		{nil, route.ReachSecretURL, "hook", ""},
		{mallory, route.ReachSecret, "default", ""},
		{admin, route.ReachSecretBody, "default", "no mail can have it"},
		{admin, route.ReachSecretBody, "DEFAULT", "no mail can have it"},
		{mallory, route.ReachSecretMail, "team", ""},
	} {
		got := g.RefusesSecret(tt.by, tt.use, tt.name)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s as %s: %q, want %q", tt.name, tt.use, got, tt.want)
		}
		if strings.Contains(got, "text of it") || strings.Contains(got, "0123456789") {
			t.Errorf("%s is told: %s", tt.name, got)
		}
	}
}

// TestBoundDeliveries: a secret goes to the hosts and readers that it is bound to, and
// to nobody else.
func TestBoundDeliveries(t *testing.T) {
	t.Parallel()
	hosts, err := ParseHosts([]string{"a.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	readers, err := ParseReaders([]string{"ann@partner.example", "example.com"})
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := ParseSecrets(map[string]string{"code": "text of it", "key": "0123456789abcdef0123", "out": "eve@elsewhere.example"})
	if err != nil {
		t.Fatal(err)
	}
	g := &Gateway{Config: Config{Secrets: secrets.Bound(map[string]Binding{"code": {Hosts: hosts, Mail: readers}, "key": {Hosts: hosts}})}}
	by := authorNamed("lunch", false, "mallory")
	call := func(to, signs string) *outbox.Delivery {
		return &outbox.Delivery{By: by, HTTP: &outbox.HTTPCall{URL: to, Secret: signs, HeaderSecrets: map[string]string{"X": "code"}}}
	}
	mail := func(secret string, to ...string) *outbox.Delivery {
		m := &outbox.Mail{To: to, TextSecret: "code"}
		if secret != "" {
			m.ToSecrets = []string{secret}
		}
		return &outbox.Delivery{By: by, Mail: m}
	}
	for _, tt := range []struct {
		d    *outbox.Delivery
		want string
	}{
		{call("https://a.example.org/x", "key"), ""},
		{call("https://b.example.org/x", ""), `the secret "code" may not be sent to b.example.org`},
		{&outbox.Delivery{By: by, HTTP: &outbox.HTTPCall{URL: "https://b.example.org/x", Secret: "key"}}, `the secret "key" may not be sent`},
		{mail("", "Ann@partner.example", "bob@example.com"), ""},
		{mail("", "ann@partner.example", "eve@partner.example"), "may be mailed only to"},
		{mail("out", "ann@partner.example"), "may be mailed only to"},
	} {
		out, _, err := g.fillIn(tt.d)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("refused: %v", err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("got %+v, %v, want %q", out, err, tt.want)
		}
	}
}
