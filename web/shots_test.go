//go:build browser

package web

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestBrowserShots writes a picture of every page that is looked at, in light, dark and on
// a phone, into the folder that FLOWDRIVE_SHOTS names. FLOWDRIVE_SHOTS_OF is a pattern for
// the names of the pages, all without it.
func TestBrowserShots(t *testing.T) {
	dir := os.Getenv("FLOWDRIVE_SHOTS")
	if dir == "" {
		t.Skip("FLOWDRIVE_SHOTS names no folder; make shots does")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, look := range []struct {
		name, theme string
		width       int64
	}{{"light", "light", 1440}, {"dark", "dark", 1440}, {"phone", "light", 390}} {
		g := newRig(t)
		g.furnish(t)
		w, user := g.open(t, look.width), ""
		w.expect("status of 4")
		shoot := func(p pageToTry) {
			matches, err := filepath.Match(cmp.Or(os.Getenv("FLOWDRIVE_SHOTS_OF"), "*"), p.name)
			if err != nil {
				t.Fatal(err)
			}
			if !matches || p.status != 200 {
				return
			}
			if user != p.user {
				if user != "" {
					w.visit("/logout")
					w.then(`document.querySelector("form").requestSubmit()`)
				}
				w.visit("/login")
				eval[bool](w, fmt.Sprintf(`document.cookie = "theme=%s; path=/"; document.cookie = "tz=UTC; path=/"; true`, look.theme))
				if user = p.user; user != "" {
					w.logIn(user, password)
				}
			}
			w.visit(p.path)
			if got := w.tooWide(look.width); got != "" {
				t.Errorf("%s is wider than %d pixels: %s", p.path, look.width, got)
			}
			if got := w.overlaps(); got != "" {
				t.Errorf("%s, %s, has texts on top of each other: %s", p.path, look.name, got)
			}
			ctx, late := context.WithTimeout(w.ctx, time.Minute)
			picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
			late()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, p.name+"."+look.name+".png"), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range pagesToTry() {
			shoot(p)
		}
		// Time passes for these, so they come last.
		entries := g.furnishSchedule(t)
		g.must(t, "ann", 204, "PUT", "/dav/Workflow/Schedule/"+entries["Audit export"]+".json", `{"do": "pause", "note": "until the auditors have moved"}`)
		for _, p := range schedulePagesToTry(entries) {
			shoot(p)
		}
		g.advance(t, "2012-12-20T08:00:00Z")
		shoot(pageToTry{"late", "ann", "/late", 200})
	}
}
