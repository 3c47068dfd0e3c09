package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"flowdrive/internal/mailbox"
)

// service is a service that routes call.
type service struct {
	*httptest.Server
	mu    sync.Mutex
	calls []serviceCall
}

type serviceCall struct {
	method, target, body string
	header               http.Header
}

// startService starts a service that answers by f.
func startService(t *testing.T, f func(w http.ResponseWriter, body string)) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.calls = append(s.calls, serviceCall{r.Method, r.URL.String(), string(body), r.Header})
		s.mu.Unlock()
		f(w, string(body))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) seen() []serviceCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// startConfigured starts a server with a configuration file.
func startConfigured(t *testing.T, config string) *program {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "flowdrive.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return startServe(t, childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(folder, "data"), "--log-level", "warn", "--config", path))
}

// webhookSecret signs what routes send in these tests.
const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// outsideConfig allows the service and the mail server, and a command.
func outsideConfig(s *service, box *mailbox.Server) string {
	return fmt.Sprintf(`
allow-host: %q
smtp: smtp://%s
mail-from: Flowdrive <flow@example.org>
mail-domain: example.org
secrets: {billing: %s}
commands:
  engrave:
    path: /bin/sh
    args: [-c, 'printf "{\"for\": \"%%s\", \"price\": " "$1"; cat; printf "}"', engrave]
    timeout: 20
`, strings.TrimPrefix(s.URL, "http://"), box.Address, webhookSecret)
}

// orderRoute calls a service, runs a command upon its answer, and tells about
// it.
const orderRoute = `
access: {start: [everyone], read: [everyone]}
xattrs: {item: {}}
states:
  begun: {type: start}
  asked: {}
  priced:
    onEnter: [{exec: {command: engrave, args: ["$__XATTR_item__;"], from: Price, into: Engraved}}]
  done:
    type: complete
    onEnter:
      - mail: {to: [starter, office@example.org], subject: "Your $__XATTR_item__;", text: {cel: '"It is for " + message["Engraved"]["for"] + "."'}}
  refused: {type: denied}
actions:
  begin: {trigger: init}
  ask:
    trigger: auto
    in: [begun]
    onFire: [{http: {url: "SERVICE/prices?of=$__XATTR_item__;", value: {item: "$__XATTR_item__;"}, into: Price, secret: billing}}]
    to: asked
  hear: {trigger: message, message: Price, in: [asked], decide: 'message["Price"] < 10 ? "cheap" : "dear"', outputs: {cheap: priced, dear: refused}}
  engraved: {trigger: message, message: Engraved, in: [priced], to: done}
`

// TestOutside: on a real server a route calls a service, whose answer decides
// the next state, runs a command, and sends a mail.
func TestOutside(t *testing.T) {
	t.Parallel()
	failures := 1
	s := startService(t, func(w http.ResponseWriter, body string) {
		if failures--; failures >= 0 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		price := 12
		if strings.Contains(body, "pen") {
			price = 7
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, price)
	})
	box := mailbox.Start(t, mailbox.Options{})
	p := startConfigured(t, outsideConfig(s, box))
	p.must(t, http.StatusCreated, "PUT", "/dav/Admin/Users/sam.json", `{"password": "sam works upstairs", "email": "sam@example.net"}`)
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/order.yaml", strings.ReplaceAll(orderRoute, "SERVICE", s.URL))

	sam := p.as("sam", "sam works upstairs")
	start := func(item string) (path string) {
		t.Helper()
		return sam.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", fmt.Sprintf(`{"route": "order", "xattrDict": {"item": %q}}`, item)).header.Get("Location")
	}
	ends := func(path, status string) {
		t.Helper()
		eventually(t, func() string {
			c := get[struct{ State, Status string }](t, p, path)
			if c.State == "completed" && c.Status == status {
				return ""
			}
			return fmt.Sprintf("%s is %+v", path, c)
		})
	}
	ends(start("pen"), "done")
	ends(start("ring"), "refused")

	eventually(t, func() string { // neither sees the other, and there are those that tell how the cases ended
		var to []string
		for _, m := range box.Mails() {
			if m.Subject == "Your pen" && strings.TrimSpace(m.Text) == "It is for pen." {
				to = append(to, m.Header.Get("To"))
			}
		}
		if slices.Sort(to); slices.Equal(to, []string{"<office@example.org>", "<sam@example.net>"}) {
			return ""
		}
		return fmt.Sprintf("got mails to %v", to)
	})
	calls := s.seen()
	if len(calls) != 3 {
		t.Fatalf("got calls %+v", calls)
	}
	again, ring := calls[1], calls[2]
	if again.method != "POST" || again.target != "/prices?of=pen" || again.body != `{"item":"pen"}` {
		t.Errorf("got %+v", again)
	}
	if key := again.header.Get("Idempotency-Key"); key == "" || key != calls[0].header.Get("Webhook-Id") || key == ring.header.Get("Idempotency-Key") {
		t.Errorf("keys %q of calls %+v", key, calls)
	}
	if got := again.header.Get("Webhook-Signature"); !strings.HasPrefix(got, "v1,") {
		t.Errorf("signature %q", got)
	} else if mac, err := base64.StdEncoding.DecodeString(got[3:]); err != nil || len(mac) != 32 {
		t.Errorf("signature %q: %v", got, err)
	}
}

// TestOutsideRefused: what an administrator has not allowed no route can ask
// for, and each fault has its place.
func TestOutsideRefused(t *testing.T) {
	t.Parallel()
	s := startService(t, func(http.ResponseWriter, string) {})
	p := startConfigured(t, outsideConfig(s, mailbox.Start(t, mailbox.Options{})))
	answer := p.must(t, http.StatusUnprocessableEntity, "PUT", "/dav/Workflow/Routes/order.yaml", `
states: {begun: {type: start}, done: {type: complete}}
actions:
  begin: {trigger: init}
  finish:
    in: [begun]
    role: clerk
    to: done
    onFire:
      - {http: {url: "http://169.254.169.254/latest/meta-data"}}
      - {http: {url: "`+s.URL+`/x", secret: biling}}
      - {mail: {to: [eve@evil.example], subject: x, text: x}}
      - {exec: {command: rm}}
roles: {clerk: {assign: [starter]}}
`)
	var problem struct {
		Errors []struct{ Pointer, Detail string }
	}
	if err := json.Unmarshal(answer.body, &problem); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"/actions/finish/onFire/0/http/url":     "setting allow-host",
		"/actions/finish/onFire/2/mail/to/0":    "setting mail-domain",
		"/actions/finish/onFire/3/exec/command": "setting commands",
	}
	for _, fault := range problem.Errors {
		if part, ok := want[fault.Pointer]; !ok || !strings.Contains(fault.Detail, part) {
			t.Errorf("got %+v", fault)
		}
		delete(want, fault.Pointer)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v in %s", want, answer.body)
	}
}

// TestOutsideSandbox: nothing leaves a sandbox, whatever is set.
func TestOutsideSandbox(t *testing.T) {
	t.Parallel()
	s := startService(t, func(http.ResponseWriter, string) {})
	box := mailbox.Start(t, mailbox.Options{})
	p := startConfigured(t, outsideConfig(s, box)+"sandbox: 2012-11-09T12:34:56Z\n")
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/order.yaml", strings.ReplaceAll(orderRoute, "SERVICE", s.URL))
	path := p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "order", "xattrDict": {"item": "pen"}}`).header.Get("Location")
	folder := strings.TrimSuffix(path, ".json")
	p.must(t, http.StatusCreated, "PUT", folder+"/Labels/Price", "7", "Content-Type", "application/json")
	p.must(t, http.StatusCreated, "PUT", folder+"/Labels/Engraved", `{"for": "pen"}`, "Content-Type", "application/json")
	log := p.must(t, http.StatusOK, "GET", folder+"/log.txt", "").String()
	if c := get[struct{ Status string }](t, p, path); c.Status != "done" || strings.Count(log, "Recorded instead of sent") != 3 {
		t.Errorf("status %s, log %s", c.Status, log)
	}
	if calls, mails := s.seen(), box.Mails(); len(calls) > 0 || len(mails) > 0 {
		t.Errorf("left the sandbox: %+v, %+v", calls, mails)
	}
}

// TestOutsideUnasked: what a service sends that nobody asked for becomes a line
// of the log like others.
func TestOutsideUnasked(t *testing.T) {
	t.Parallel()
	s := startService(t, func(w http.ResponseWriter, _ string) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\nunasked")
		_, _ = conn.Read(make([]byte, 1)) // until the server hangs up
	})
	p := startServe(t, childProcess(t, "flowdrive", "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"),
		"--log-level", "debug", "--allow-host", strings.TrimPrefix(s.URL, "http://")))
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/tell.yaml", fmt.Sprintf(`
states: {begun: {type: start}}
actions:
  begin: {trigger: init, onFire: [{http: {url: %q}}]}
  end: {in: [begun], role: clerk}
roles: {clerk: {assign: [starter]}}
`, s.URL+"/"))
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "tell"}`)
	eventually(t, func() string {
		for line := range strings.Lines(p.complaints.String()) {
			if strings.Contains(line, "unasked") && strings.HasSuffix(line, "\n") {
				if !json.Valid([]byte(line)) {
					t.Fatalf("logged %q", line)
				}
				return ""
			}
		}
		return "nothing was logged"
	})
}

// TestOutsideKilled: a command does not outlive the server that ran it, nor its
// folder the next start.
func TestOutsideKilled(t *testing.T) {
	t.Parallel()
	started := filepath.Join(t.TempDir(), "started")
	p := startConfigured(t, `
commands:
  linger: {path: /bin/sh, args: [-c, 'echo $$ "$PWD" > "$1.new"; mv "$1.new" "$1"; exec sleep 600', linger], env: {PATH: /usr/bin:/bin}, timeout: PT5M}
`)
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/wait.yaml", fmt.Sprintf(`
states: {begun: {type: start}}
actions:
  begin: {trigger: init, onFire: [{exec: {command: linger, args: [%q]}}]}
  end: {in: [begun], role: clerk}
roles: {clerk: {assign: [starter]}}
`, started))
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "wait"}`)
	var pid, folder string
	runs := func() bool { // what has ended and nobody looked after yet has no command line
		line, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
		return err == nil && string(line) == "sleep\x00600\x00"
	}
	eventually(t, func() string {
		text, err := os.ReadFile(started)
		if err != nil {
			return err.Error()
		}
		pid, folder, _ = strings.Cut(strings.TrimSpace(string(text)), " ")
		if !runs() { // the shell is being replaced: for an instant there is no command line
			return "the command does not run"
		}
		return ""
	})
	p.kill()
	eventually(t, func() string {
		if runs() {
			return "process " + pid + " runs"
		}
		return ""
	})
	data := p.cmd.Args[slices.Index(p.cmd.Args, "--data")+1]
	if in, err := filepath.Rel(data, folder); err != nil || !filepath.IsLocal(in) {
		t.Errorf("it ran in %s, outside of %s (%v)", folder, data, err)
	}
	startProgram(t, data)
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left (%v)", folder, err)
	}
}

// TestCollectorPost: the example that is not there from the beginning, against
// a service of this machine.
func TestCollectorPost(t *testing.T) {
	t.Parallel()
	s := startService(t, func(w http.ResponseWriter, body string) {
		var rows struct{ Count int }
		if err := json.Unmarshal([]byte(body), &rows); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = fmt.Fprintf(w, `{"accepted": %d}`, rows.Count)
	})
	box := mailbox.Start(t, mailbox.Options{})
	p := startConfigured(t, outsideConfig(s, box))
	p.must(t, http.StatusCreated, "PUT", "/dav/Admin/Users/sam.json", `{"password": "sam works upstairs", "email": "sam@example.net"}`)
	p = p.as("sam", "sam works upstairs")
	examples := filepath.Join("..", "..", "route", "examples")
	source, err := os.ReadFile(filepath.Join(examples, "collector-post.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const madeUp = "https://collector.example.org"
	refused := p.must(t, http.StatusUnprocessableEntity, "PUT", "/dav/Workflow/Routes/collector-post.yaml", string(source))
	if !strings.Contains(refused.String(), "may not call collector.example.org") {
		t.Errorf("got %s", refused)
	}
	p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Routes/collector-post.yaml", strings.ReplaceAll(string(source), madeUp, s.URL))

	now := time.Now().UTC()
	rows := fmt.Sprintf(`[{"date": "2012-11-02", "rate": 1}, {"date": %q, "rate": 2}]`, now.Format(time.DateOnly))
	uuid := p.must(t, http.StatusCreated, "PUT", "/attachfs/rows.json", rows).header.Get("X-OpenGroupware-AttachmentUUID")
	entry, err := os.ReadFile(filepath.Join(examples, "collector-post.entry.json"))
	if err != nil {
		t.Fatal(err)
	}
	entries := p.must(t, http.StatusCreated, "PUT", "/dav/Workflow/Schedule/rows.json", strings.Replace(string(entry), strings.Repeat("0", 32), uuid, 1))
	p.must(t, http.StatusNoContent, "PUT", entries.header.Get("Location"), `{"do": "trigger"}`)

	eventually(t, func() string { // there is also the mail that tells how the case ended
		for _, m := range box.Mails() {
			if slices.Equal(m.To, []string{"sam@example.net"}) && strings.HasPrefix(m.Subject, "Collected: "+now.Format("2006-01-")) && strings.TrimSpace(m.Text) == "The service has taken 1 rows." {
				return ""
			}
		}
		return fmt.Sprintf("got mails %+v", box.Mails())
	})
	if calls := s.seen(); len(calls) != 1 || !strings.HasSuffix(calls[0].target, "&to="+now.Format(time.DateOnly)) || !strings.Contains(calls[0].body, `"count":1`) {
		t.Errorf("got calls %+v", calls)
	}
}
