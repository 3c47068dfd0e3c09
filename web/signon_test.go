package web

import (
	"strings"
	"testing"
	"time"
)

// TestAwayCookie: by HTTPS the cookie of a log-in is one that no other host of the domain can
// set: who set it in another's browser would log them in as themselves.
func TestAwayCookie(t *testing.T) {
	t.Parallel()
	if c := awayCookie("kept", true); c.Name != "__Host-fd-login" || c.Path != "/" || c.Domain != "" || !c.Secure || !c.HttpOnly {
		t.Errorf("by HTTPS: %s", c)
	}
	if c := awayCookie("", true); c.Name != "__Host-fd-login" || c.Path != "/" || !c.Secure || c.MaxAge >= 0 {
		t.Errorf("to forget it: %s", c)
	}
	if c := awayCookie("kept", false); c.Name != "fd-login" || c.Path != "/login/oidc" || c.Secure {
		t.Errorf("without TLS: %s", c)
	}
}

// TestLogInsUnderWay: a log-in at the provider lasts ten minutes in its browser, however many
// others begin: strangers who began ten thousand ended those of everybody.
func TestLogInsUnderWay(t *testing.T) {
	t.Parallel()
	w, err := newWays()
	if err != nil {
		t.Fatal(err)
	}
	other, err := newWays()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2012, 11, 9, 12, 34, 56, 0, time.UTC)
	want := away{State: "state", Nonce: "nonce", Verifier: "verifier", Next: "/cases", Until: now.Add(awayLife)}
	kept := w.put(want)
	for range 10_001 {
		w.put(away{State: "of a stranger", Until: now.Add(awayLife)})
	}
	if got, ok := w.take(kept, now); !ok || got != want {
		t.Errorf("got %+v, %v", got, ok)
	}
	if _, ok := w.take(kept, now.Add(awayLife)); ok {
		t.Error("it lasts longer than ten minutes")
	}
	if strings.Contains(kept, "verifier") || kept == w.put(want) {
		t.Error("what the browser keeps can be read")
	}
	changed := []byte(kept) // in the middle: the last letter has bits that say nothing
	if at := len(changed) / 2; changed[at] == 'A' {
		changed[at] = 'B'
	} else {
		changed[at] = 'A'
	}
	for _, wrong := range []string{"", "state", kept[1:], string(changed), other.put(want)} {
		if got, ok := w.take(wrong, now); ok || got != (away{}) {
			t.Errorf("%q is taken: %+v", wrong, got)
		}
	}
	long := w.put(away{Next: "/" + strings.Repeat("x", 8000), Until: now.Add(awayLife)})
	if got, ok := w.take(long, now); !ok || got.Next != "" || len(long) > 3000 {
		t.Errorf("a long address: %d bytes, %+v", len(long), got)
	}
}
