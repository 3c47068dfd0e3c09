//go:build browser

package web

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// choose chooses files in a field.
func (w *window) choose(selector string, files ...string) {
	w.t.Helper()
	ctx, late := context.WithTimeout(w.ctx, 30*time.Second)
	defer late()
	if err := chromedp.Do(ctx, chromedp.SetUploadFiles(selector, files)); err != nil {
		w.t.Fatal(err)
	}
}

// TestBrowserUpload: a file is uploaded with its progress, and of a name that is taken the
// page asks: keeping both makes another name, replacing keeps the old version.
func TestBrowserUpload(t *testing.T) {
	for _, width := range []int{1440, 390} {
		g := newRig(t)
		g.furnish(t)
		w := g.open(t, width)
		w.expect("status of 412")
		w.visit("/documents/core")
		w.logIn("ann", password)
		w.stop("documents")
		path := filepath.Join(t.TempDir(), "rates.csv")
		if err := os.WriteFile(path, []byte("EUR,1.4\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.choose("#up", path)
		w.until(`document.querySelector("#uploads").textContent.includes("The name is taken.")`)
		w.stop("a name that is taken")
		press := func(text string) {
			eval[bool](w, `[...document.querySelectorAll("#uploads button")].find(b => b.textContent === "`+text+`").click(); true`)
		}
		press("Keep both")
		w.until(`document.querySelector("#list").textContent.includes("rates (2).csv")`)
		w.choose("#up", path)
		w.until(`document.querySelectorAll("#uploads .st.warn").length === 1`)
		press("Replace")
		w.until(`document.querySelectorAll("#uploads .st.good").length === 2`)
		w.stop("stored")
		for _, name := range []string{"rates.csv", "rates%20(2).csv"} {
			if got := g.must(t, "ann", 200, "GET", "/dav/Documents/core/"+name, "").body; got != "EUR,1.4\n" {
				t.Errorf("%s has %q", name, got)
			}
		}
		w.visit("/documents/core/.history")
		w.stop("old versions")
		w.then(`document.querySelector("#list button").click()`)
		w.until(`document.querySelector("#notice") !== null`)
	}
}
