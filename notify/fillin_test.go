package notify

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"flowdrive/engine/outbox"
	"flowdrive/internal/mailbox"
)

// TestSecretsFilledIn: a service gets the secrets, and nobody else hears of them,
// whatever the service answers.
func TestSecretsFilledIn(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	var got *http.Request
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"no": "`+r.Header.Get("Authorization")+`", "at": "`+r.URL.RequestURI()+`"}`)
	})
	address := s.URL + "/services/T0000/B0000/XXXXXXXXXXXX?token=aaaabbbbcccc"
	secrets, err := ParseSecrets(map[string]string{"slack": address, "api": "Bearer hunter2&hunter3", "sign": "open-sesame-open-sesame", "default": "whsec_b3Blbi1zZXNhbWUtMTIzNDU2Nzg5MA=="})
	if err != nil {
		t.Fatal(err)
	}
	g := newGateway(t, Config{Hosts: allow(t, "127.0.0.1"), Secrets: secrets})
	call := &outbox.HTTPCall{Method: http.MethodPost, URLSecret: "slack", HeaderSecrets: map[string]string{"Authorization": "api"}}
	for status = range map[int]string{http.StatusOK: "", http.StatusForbidden: "final: ", http.StatusServiceUnavailable: "again: "} {
		out := deliver(t, g, &outbox.Delivery{HTTP: call})
		if got.Header.Get("Authorization") != "Bearer hunter2&hunter3" || got.URL.RequestURI() != "/services/T0000/B0000/XXXXXXXXXXXX?token=aaaabbbbcccc" {
			t.Fatalf("the service got %s, %v", got.URL, got.Header)
		}
		for _, secret := range []string{"hunter2", "XXXXXXXX", "aaaabbbb", "T0000"} {
			if strings.Contains(out, secret) {
				t.Errorf("%d: %s tells %s", status, out, secret)
			}
		}
		if !strings.Contains(out, inPlace) || status != http.StatusOK && !strings.Contains(out, "POST "+s.URL+" answered") {
			t.Errorf("%d: got %s", status, out)
		}
	}
	if call.URL != "" || len(call.Header) != 0 {
		t.Errorf("the delivery was changed: %+v", call)
	}
	for _, signed := range []*outbox.HTTPCall{
		{Method: http.MethodPost, URL: s.URL + "/open-sesame-open-sesame", Secret: "sign"},
		{Method: http.MethodPost, URL: s.URL + "/b3Blbi1zZXNhbWUtMTIzNDU2Nzg5MA=="}, // by the default secret
	} {
		if out := deliver(t, g, &outbox.Delivery{HTTP: signed}); got.Header.Get("Webhook-Signature") == "" || !strings.Contains(out, `"/`+inPlace+`"`) {
			t.Errorf("what signs is told: %s", out)
		}
	}
	for name, call := range map[string]*outbox.HTTPCall{
		"slak": {Method: http.MethodPost, URLSecret: "slak"},
		"api":  {Method: http.MethodPost, URLSecret: "api"},
		"key":  {Method: http.MethodPost, URL: s.URL, HeaderSecrets: map[string]string{"X-Key": "key"}},
	} {
		if out := deliver(t, g, &outbox.Delivery{HTTP: call}); !strings.HasPrefix(out, "final: ") || !strings.Contains(out, `"`+name+`"`) || strings.Contains(out, "hunter2") {
			t.Errorf("%s: got %s", name, out)
		}
	}
}

// TestSecretsOfMails: addresses and text of a mail can be secrets.
func TestSecretsOfMails(t *testing.T) {
	t.Parallel()
	box := mailbox.Start(t, mailbox.Options{})
	secrets, err := ParseSecrets(map[string]string{"team": "ann@partner.example, bob@partner.example", "text": "The code is 4711."})
	if err != nil {
		t.Fatal(err)
	}
	g := newGateway(t, Config{Mail: toServer(t, box, "smtp://ADDRESS", ""), Secrets: secrets})
	m := &outbox.Mail{Subject: "Code", ToSecrets: []string{"team"}, TextSecret: "text"}
	if out := deliver(t, g, &outbox.Delivery{Mail: m}); out != "nothing" {
		t.Fatal(out)
	}
	var to []string
	for _, mail := range box.Mails() {
		if to = append(to, mail.To...); !strings.Contains(mail.Text, "The code is 4711.") {
			t.Errorf("got %+v", mail)
		}
	}
	if slices.Sort(to); strings.Join(to, " ") != "ann@partner.example bob@partner.example" {
		t.Errorf("got mails to %v", to)
	}
	m.ToSecrets = []string{"text"}
	if out := deliver(t, g, &outbox.Delivery{Mail: m}); !strings.HasPrefix(out, "final: ") || strings.Contains(out, "4711") {
		t.Errorf("got %s", out)
	}
}

// TestPiecesHideSecrets: of what a command writes a piece is told, which may begin or end
// within a secret.
func TestPiecesHideSecrets(t *testing.T) {
	t.Parallel()
	h := &hidden{}
	h.add("open-sesame")
	for _, test := range []struct {
		content string
		cut     bool
		want    string
	}{
		{"all is open-sesame now", false, "all is [secret] now"},
		{"the word is open-ses", false, "the word is [secret]"},
		{"the word is open", false, "the word is [secret]"},
		{"the word is ope", false, "the word is ope"}, // three letters tell nothing
		{"sesame, and so on", true, "[secret], and so on"},
		{"sesame, and so on", false, "sesame, and so on"},
		{"sesame", true, "[secret]"},
		{"ame open-s", true, "ame [secret]"},
		{"sesame open-s", true, "[secret] [secret]"},
		{"", true, ""},
		{"nothing of it", true, "nothing of it"},
	} {
		if got := string(h.piece([]byte(test.content), test.cut)); got != test.want {
			t.Errorf("%q, cut %v: %q; want %q", test.content, test.cut, got, test.want)
		}
	}
	if got := string((&hidden{}).piece([]byte("open-sesame"), true)); got != "open-sesame" {
		t.Errorf("without a secret: %q", got)
	}
}
