package notify

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/engine/outbox"
)

var update = flag.Bool("update", false, "write the recordings anew")

// samples are notices as destinations are told of them.
func samples() map[string]*notice.Notice {
	lamp := &machine.Case{ID: 42, GUID: "5d3c0f0e", RouteName: "purchase", Title: `A lamp <b>*now*</b> & "soon"`, Life: machine.Active, Status: "requested", Starter: "ann"}
	return map[string]*notice.Notice{
		"task": {
			Kind: notice.KindTask, Time: noon(), Case: lamp, ActsCase: 42, Links: "https://flow.example.org",
			Acts: []machine.LogEntry{{
				Text: "Requested", Action: new("request"), Actor: new("ann"), To: new("requested"), Comment: new("For the desk.\nIt is <!channel> *dark*."), Time: noon(),
			}},
			Title: func(task machine.TaskRef) string {
				return map[string]string{"approve": "Approve", "refuse": "Refuse"}[task.Action]
			},
			People: []notice.Person{{
				Notice: machine.Notice{Person: "bob", Case: 42, Why: machine.ReasonTask, Tasks: []machine.TaskRef{{Case: 42, Action: "approve"}, {Case: 42, Action: "refuse"}}},
				Name:   "bob", At: lamp, Sees: true,
			}},
		},
		"failure": {
			Kind: notice.KindFailure, Time: noon(), Links: "https://flow.example.org",
			Entry:   &notice.Entry{UUID: "8a02bd29bc0b4aaabdc1823824c6d660", Title: "Nightly rates", Route: "rates"},
			Trouble: &notice.Trouble{What: notice.WhatUnstarted, Text: "There is no route rates", Since: noon(), Instant: noon()},
		},
		"no-links": {
			Kind: notice.KindAct, Time: noon(), Word: "Approved", Case: lamp, ActsCase: 42,
			Acts: []machine.LogEntry{{Text: "Approved", Action: new("approve"), Actor: new("bob"), From: new("requested"), To: new("approved"), Time: noon()}},
		},
	}
}

// destinationAt returns a destination at a service of a test, as the documentation
// of its template wants the address.
func destinationAt(template, base string) Destination {
	paths := map[string]string{
		"standard": "/hook", "slack": "/services/T0/B0/xyz", "teams": "/workflows/1/triggers/manual/paths/invoke?sig=xyz",
		"matrix": "/_matrix/client/v3/rooms/!room:example.org/send/m.room.message", "ntfy": "/ops", "gotify": "/message",
	}
	d := Destination{Template: template, URL: base + paths[template]}
	if templates()[template].header != "" {
		d.Token = "token"
	}
	return d
}

// TestRecordings: what each kind of service is sent, as files of
// testdata/notices: the request line, the headers that matter, and the body.
func TestRecordings(t *testing.T) {
	t.Parallel()
	for _, name := range Templates() {
		for sample, n := range samples() {
			recorded := make(chan string, 1)
			s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { recorded <- record(t, r) }))
			defer s.Close()
			d := destinationAt(name, s.URL)
			g := newGateway(t, Config{Hosts: allow(t, at(s)), Destinations: []Destination{d}, Secrets: secretsOf(t, map[string]string{"token": "tk_0123", "default": "a key that the settings have"})})
			if wrong := g.RefusesDestination(&d); len(wrong) > 0 {
				t.Fatalf("%s: %+v", name, wrong)
			}
			if got := deliver(t, g, &outbox.Delivery{News: &outbox.Bulletin{Destination: d.ID(), Body: n.Body()}}); got != "nothing" {
				t.Fatalf("%s, %s: %s", name, sample, got)
			}
			path := filepath.Join("testdata", "notices", name+"-"+sample+".http")
			got := strings.ReplaceAll(<-recorded, at(s), "host.example.org")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		}
	}
}

// record writes a request down for people.
func record(t *testing.T, r *http.Request) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\nHost: %s\n", r.Method, r.RequestURI, r.Host)
	for _, header := range []string{"Authorization", "Content-Type", "Idempotency-Key", "Webhook-Id", "Webhook-Signature", "Webhook-Timestamp", "X-Gotify-Key"} {
		if value := r.Header.Get(header); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", header, value)
		}
	}
	b.WriteByte('\n')
	if err := json.Indent(&b, bytes.TrimSpace(body), "", "  "); err != nil {
		t.Errorf("%v: %s", err, body)
	}
	b.WriteByte('\n')
	return b.String()
}

// TestDestinationFails: what a service answers decides whether it is told again.
// What is said of it has its host, and not what is secret in its address.
func TestDestinationFails(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		http.StatusNotFound:            "final: POST http://HOST answered 404 Not Found: no_service",
		http.StatusServiceUnavailable:  "again: POST http://HOST answered 503 Service Unavailable: no_service",
		http.StatusTooManyRequests:     "later 7s: POST http://HOST answered 429 Too Many Requests: no_service",
		http.StatusPermanentRedirect:   "final: http://HOST redirects more than 3 times",
		http.StatusInternalServerError: "again: POST http://HOST answered 500 Internal Server Error: no_service",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", map[bool]string{true: "7"}[status == http.StatusTooManyRequests])
			w.Header().Set("Location", map[bool]string{true: "/services/T0/B0/xyz"}[status == http.StatusPermanentRedirect])
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "no_service\n")
		}))
		defer s.Close()
		d := destinationAt("slack", s.URL)
		g := newGateway(t, Config{Hosts: allow(t, at(s)), Destinations: []Destination{d}})
		got := deliver(t, g, &outbox.Delivery{News: &outbox.Bulletin{Destination: d.ID(), Body: samples()["task"].Body()}})
		if got = strings.ReplaceAll(got, at(s), "HOST"); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		if name := g.NameOf(&d); name != "slack at "+at(s) || strings.Contains(d.ID(), "xyz") {
			t.Errorf("it is called %s, %s", name, d.ID())
		}
	}
	// What a service repeats of a secret is not told.
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, "no %s with %s", r.URL.Path, r.Header.Get("Authorization"))
	}))
	defer s.Close()
	d := Destination{Template: "ntfy", URLSecret: "url", Token: "token"}
	g := newGateway(t, Config{Hosts: allow(t, at(s)), Destinations: []Destination{d}, Secrets: secretsOf(t, map[string]string{"token": "tk_0123", "url": s.URL + "/hidden-folder/hidden-topic"})})
	got := deliver(t, g, &outbox.Delivery{News: &outbox.Bulletin{Destination: d.ID(), Body: samples()["task"].Body()}})
	if !strings.HasPrefix(got, "final: POST "+s.URL+" answered 403") || strings.Contains(got, "tk_0123") || strings.Contains(got, "hidden-") {
		t.Errorf("got %s", got)
	}

	g = newGateway(t, Config{})
	if got, want := deliver(t, g, &outbox.Delivery{News: &outbox.Bulletin{Destination: "slack-0", Body: []byte("{}")}}), "final: the settings do not have this destination any more"; got != want {
		t.Errorf("got %s", got)
	}
}

// TestRefusesDestination: each fault names its part of the setting.
func TestRefusesDestination(t *testing.T) {
	t.Parallel()
	g := newGateway(t, Config{Hosts: allow(t, "hooks.example.org"), Secrets: secretsOf(t, map[string]string{"key": strings.Repeat("k", 32), "url": "https://hooks.example.org/services/xyz"})})
	for _, test := range []struct {
		d    Destination
		want string
	}{
		{Destination{Template: "standard", URL: "https://hooks.example.org/x", Secret: "key"}, ""},
		{Destination{Template: "slak", URL: "https://hooks.example.org/x"}, `template: must be one of gotify, matrix, ntfy, slack, standard, teams, not "slak"; did you mean "slack"?`},
		{Destination{Template: "slack", URL: "https://other.example.org/x"}, "webhook: routes may not call other.example.org"},
		{Destination{Template: "slack", URL: "hooks.example.org"}, "webhook: "},
		{Destination{Template: "ntfy", URL: "https://hooks.example.org/"}, "webhook: must end with the topic"},
		{Destination{Template: "gotify", URL: "https://hooks.example.org/"}, "webhook: must end with /message"},
		{Destination{Template: "matrix", URL: "https://hooks.example.org/x"}, "webhook: must end with /send/m.room.message"},
		{Destination{Template: "standard", URL: "https://hooks.example.org/x", Secret: "kay"}, `sign: there is no secret "kay"; did you mean "key"?`},
		{Destination{Template: "slack", URL: "https://hooks.example.org/x", Secret: "key"}, "sign: is for the template standard alone"},
		{Destination{Template: "slack", URL: "https://hooks.example.org/x", Token: "key"}, "token: is not for the template slack"},
		{Destination{Template: "ntfy", URL: "https://hooks.example.org/x", Token: "tok"}, `token: there is no secret "tok"`},
		{Destination{Template: "slack", URLSecret: "url"}, ""},
		{Destination{Template: "gotify", URLSecret: "url"}, "webhook: must end with /message"},
		{Destination{Template: "slack", URLSecret: "key"}, `webhook: the secret "key" is not an address`},
	} {
		var got []string
		for _, wrong := range g.RefusesDestination(&test.d) {
			got = append(got, wrong.Part+": "+wrong.Detail)
		}
		if text := strings.Join(got, "; "); (text == "") != (test.want == "") || !strings.HasPrefix(text, test.want) || len(got) > 1 {
			t.Errorf("%+v: got %q, want %q", test.d, text, test.want)
		}
	}
}

func secretsOf(t *testing.T, texts map[string]string) Secrets {
	t.Helper()
	s, err := ParseSecrets(texts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMessagesHaveTheirBounds: what people have written never makes a message that a
// service refuses as too long.
func TestMessagesHaveTheirBounds(t *testing.T) {
	t.Parallel()
	n := samples()["task"]
	n.Case.Title = strings.Repeat("<&>", 1000)
	n.Acts[0].Comment = new(strings.Repeat(strings.Repeat("&", 1000)+"\n", 100))
	for range 20 {
		n.Acts = append(n.Acts, n.Acts[0])
		n.People[0].Tasks = append(n.People[0].Tasks, machine.TaskRef{Case: int64(len(n.Acts)), Action: "approve"})
	}
	var p notice.Payload
	if err := json.Unmarshal(n.Body(), &p); err != nil {
		t.Fatal(err)
	}
	c := chatOf(&p)
	if len(c.lines) > mostChatLines || len(c.links) > mostChatLinks || len([]rune(c.title)) > mostChatTitle+1 {
		t.Errorf("%d lines, %d links, %d characters of a title", len(c.lines), len(c.links), len([]rune(c.title)))
	}
	_, body := slackMessage(nil, "", &p)
	message, _ := body.(object)
	blocks, _ := message["blocks"].([]object)
	if len(blocks) == 0 {
		t.Errorf("a message without blocks: %v", body)
	}
	for _, block := range blocks {
		section, _ := block["text"].(object)
		if text, _ := section["text"].(string); len([]rune(text)) > 3000 {
			t.Errorf("a section of %d characters", len([]rune(text)))
		}
	}
	to := &url.URL{Scheme: "https", Host: "host.example.org", Path: "/topic"}
	for _, character := range []string{"&", "<", "_", "\U0001F525", "a"} {
		for i := range p.Data.Acts {
			p.Data.Acts[i].Comment = new(strings.Repeat(strings.Repeat(character, 1000)+"\n", 100))
		}
		for name, most := range map[string]int{"teams": 28 << 10, "matrix": 65_536, "ntfy": 2 * 4096} {
			_, body := templates()[name].write(to, "key", &p)
			if size := sizeOf(body); size > most || size < most/4 {
				t.Errorf("%s, %q: a message of %d bytes", name, character, size)
			}
			m, _ := body.(object)
			if text, _ := m["message"].(string); name == "ntfy" && (text == "" || len(text) > 4096) {
				t.Errorf("%q: a text of %d bytes", character, len(text))
			}
		}
	}
	if !slices.IsSorted(Templates()) {
		t.Error("the templates are not in order")
	}
}
