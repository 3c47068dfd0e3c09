package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/mailbox"
	"flowdrive/store/backup"
)

// TestDoctorLooksAtCertificates: one that has expired, that soon will, or that is for
// other names is told.
func TestDoctorLooksAtCertificates(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	certFile, keyFile := writeCertificate(t, t.TempDir(), &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotBefore: begin, NotAfter: begin.AddDate(0, 3, 0),
	})
	for _, test := range []struct {
		days      int
		publicURL string
		want      string
	}{
		{1, "https://localhost", ""},
		{1, "https://flow.example.org", "it is not for flow.example.org"},
		{-1, "", "it is good only from 2026-11-01T12:00:00Z on"},
		{80, "", "it expires on 2027-02-01; renew it"},
		{100, "", "it has expired on 2027-02-01; renew it"},
	} {
		d := &doctor{settings: &settings{tlsCert: certFile, tlsKey: keyFile, publicURL: test.publicURL}, now: begin.AddDate(0, 0, test.days)}
		good, err := d.certificate(t.Context())
		switch {
		case test.want == "" && err != nil:
			t.Errorf("day %d: %v", test.days, err)
		case test.want == "" && good != "good until 2027-02-01":
			t.Errorf("day %d: %q", test.days, good)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("day %d: %v; want %q", test.days, err, test.want)
		}
	}
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	d := &doctor{settings: &settings{tlsCert: certFile, tlsKey: keyFile}, now: begin}
	if _, err := d.certificate(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be used") {
		t.Errorf("without its key: %v", err)
	}
}

// TestDoctorTriesTheMailServer: it logs in, and sends nothing.
func TestDoctorTriesTheMailServer(t *testing.T) {
	t.Parallel()
	box := mailbox.Start(t, mailbox.Options{})
	s := &settings{timezone: "UTC", addr: "127.0.0.1:0", data: t.TempDir()}
	s.outside.smtp, s.outside.mailFrom = "smtp://"+box.Address, "flow@example.org"
	var out bytes.Buffer
	d := &doctor{settings: s, now: time.Now(), out: &out}
	if good, err := d.mail(t.Context()); err != nil || good != "takes mails from this server" {
		t.Errorf("%q, %v", good, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.mail(ended); err == nil || !strings.Contains(err.Error(), "look at --smtp") {
		t.Errorf("one that does not answer: %v", err)
	}
}

// TestDoctorLooksWhoIsToldOfFailures: with a mail server an administrator needs an address.
func TestDoctorLooksWhoIsToldOfFailures(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		with := &settings{data: s.settings.data}
		with.outside.smtp, with.outside.mailFrom = "smtp://127.0.0.1:1", "flow@example.org"
		d := &doctor{settings: with}
		good, err := d.failures(t.Context())
		if _, harmless := errors.AsType[advice](err); err == nil || harmless || !strings.Contains(err.Error(), "none has an e-mail address and wants such mails (email, notify and mail in Account/me.json)") {
			t.Errorf("without an address: %q, %v", good, err)
		}
		s.must("PUT", "/dav/Account/me.json", `{"email": "admin@example.org"}`)
		if good, err = d.failures(t.Context()); err != nil || good != "an administrator or a service is told of them" {
			t.Errorf("with an address: %q, %v", good, err)
		}
	})
}

// TestDoctorLooksAtSecrets: those that nothing names are told, and those that are named and not
// there. What routes, hooks, commands, services and the sign of life name is used.
func TestDoctorLooksAtSecrets(t *testing.T) {
	t.Parallel()
	withServer(t, func(s *inProcess) {
		with := &settings{data: s.settings.data}
		d := &doctor{settings: with}
		set := func(m *mapFlag, text string) {
			t.Helper()
			if err := m.Set(text); err != nil {
				t.Fatal(err)
			}
		}
		check := func(what, wantGood, wantWrong string, wantHarmless bool) {
			t.Helper()
			good, err := d.secrets(t.Context())
			wrong := ""
			if err != nil {
				wrong, good = err.Error(), ""
			}
			_, harmless := errors.AsType[advice](err)
			if good != wantGood || wrong != wantWrong || harmless != wantHarmless {
				t.Errorf("%s: %q, %q, a note: %v", what, good, wrong, harmless)
			}
		}
		const fine = "the settings have none that every user of the machine can read; each is used, and none is missing"
		check("no secrets", fine, "", false)
		with.outside.allowHosts = []string{"127.0.0.1"}
		set(&with.outside.secrets, `{default: whsec_MDEyMzQ1Njc4OWFiY2RlZg==, my-key: aaaa, of-hook: bbbb, of-command: cccc, of-service: dddd, alive: "http://127.0.0.1:1/x"}`)
		set(&with.outside.commands, `{run: {path: /bin/true, env: {TOKEN: {secret: of-command}}}}`)
		with.outside.notify.list = true
		set(&with.outside.notify, `[{webhook: "http://127.0.0.1:1/y", token: {secret: OF_SERVICE}, template: ntfy}]`)
		with.outside.heartbeat.url.text = "secret:alive"
		check("unused ones", "", "no route, hook, schedule entry, command or service names my-key, of-hook; unless cases of older versions of routes need it, remove it from the settings", true)
		s.must("PUT", "/dav/Workflow/Routes/calls.yaml", `
states: {open: {type: start}, done: {type: complete}}
actions: {begin: {trigger: init, sideEffects: [{mail: {to: {secret: my_key}, subject: Hello}}]}}
`)
		s.must("PUT", "/dav/Workflow/Routes/calls/Hooks/paid.json", `{"verify": {"scheme": "github", "secret": "of-hook"}}`)
		check("used ones", fine, "", false)
		with.outside.secrets = mapFlag{secret: true}
		set(&with.outside.secrets, `{of-command: cccc, of-service: dddd, alive: "http://127.0.0.1:1/x", old: ffff}`)
		check("missing ones", "", `there is no secret "my_key", which route calls names; add it to the setting secrets
there is no secret "of-hook", which hook paid of route calls names; add it to the setting secrets
no route, hook, schedule entry, command or service names old; unless cases of older versions of routes need it, remove it from the settings`, false)
		d.settings = &settings{data: t.TempDir()}
		check("no server, no secrets", "the settings have none that every user of the machine can read", "", false)
	})
}

// TestDoctorLooksAtTheClock: what was written later than now is told.
func TestDoctorLooksAtTheClock(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	path := filepath.Join(data, databaseName)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		now, written time.Time
		want         string
	}{
		{now, now, ""},
		{now, now.Add(time.Hour), "set the clock"},
		{now.AddDate(-10, 0, 0), now, "let it be kept by NTP"},
	} {
		if err := os.Chtimes(path, test.written, test.written); err != nil {
			t.Fatal(err)
		}
		d := &doctor{settings: &settings{data: data}, now: test.now}
		if _, err := d.clock(t.Context()); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("at %v, written %v: %v; want %q", test.now, test.written, err, test.want)
		}
	}
}

// TestDoctorPrintsALineACheck: several faults of one check stand in one line.
func TestDoctorPrintsALineACheck(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := &doctor{settings: &settings{}, out: &out}
	if err := d.run(t.Context(), errors.Join(errors.New("one is wrong"), errors.New("two is wrong"))); !errors.Is(err, errToFix) {
		t.Error(err)
	}
	if got := out.String(); got != "fix   settings: one is wrong; two is wrong\n" {
		t.Errorf("%q", got)
	}
}

// TestDoctorMissesEarlierBackups: where the server has made backups and none is, most
// likely a disk is not mounted. To make one there would fill another disk.
func TestDoctorMissesEarlierBackups(t *testing.T) {
	t.Parallel()
	data, to := t.TempDir(), filepath.Join(t.TempDir(), "abk")
	d := &doctor{settings: &settings{data: data, backup: backupSettings{to: to}}, now: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)}
	if _, err := d.backups(t.Context()); err == nil || !strings.Contains(err.Error(), "there is none in "+to+" yet") {
		t.Errorf("before the first one: %v", err)
	}
	b := &backups{config: backup.Config{Data: data, To: to, Host: "earlier"}}
	if err := b.remember(time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.backups(t.Context()); err == nil || !strings.Contains(err.Error(), "has none of the backups that were made there, the last one at 2026-11-01T03:00:00Z: mount its disk") {
		t.Errorf("after they have vanished: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(to), link); err != nil {
		t.Fatal(err)
	}
	for _, spelled := range []string{to + "/", filepath.Join(link, "abk"), filepath.Dir(to) + "/./x/../abk"} {
		d := &doctor{settings: &settings{data: data + "/", backup: backupSettings{to: spelled}}, now: d.now}
		if _, err := d.backups(t.Context()); err == nil || !strings.Contains(err.Error(), "mount its disk") {
			t.Errorf("spelled %s: %v", spelled, err)
		}
	}
	d.settings.backup.to = filepath.Join(t.TempDir(), "abk")
	if _, err := d.backups(t.Context()); err == nil || !strings.Contains(err.Error(), "there is none in ") {
		t.Errorf("another folder: %v", err)
	}
}
