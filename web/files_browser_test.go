//go:build browser

package web

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// choose chooses files in a field.
func (w *window) choose(selector string, files ...string) {
	w.t.Helper()
	ctx, late := context.WithTimeout(w.ctx, patience)
	defer late()
	if err := chromedp.Do(ctx, chromedp.SetUploadFiles(selector, files)); err != nil {
		w.t.Fatal(err)
	}
}

// TestBrowserUpload: a file is uploaded with its progress, and of a name that is taken the
// page asks: keeping both makes another name, replacing keeps the old version.
func TestBrowserUpload(t *testing.T) {
	for _, width := range []int64{1440, 390} {
		g := browserRig(t)
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

// TestBrowserSearch: by keys alone a number leads to its case, and a text to what has it.
func TestBrowserSearch(t *testing.T) {
	for _, width := range []int64{1440, 390} {
		g := browserRig(t)
		g.furnish(t)
		w := g.open(t, width)
		w.visit("/tasks")
		w.logIn("ann", password)
		key := func(on, key string) {
			eval[bool](w, `document.querySelector("`+on+`").dispatchEvent(new KeyboardEvent("keydown", {key: "`+key+`", bubbles: true, cancelable: true})); true`)
		}
		write := func(text string) {
			eval[bool](w, `{ const i = document.querySelector("dialog input"); i.value = "`+text+`"; i.dispatchEvent(new Event("input", {bubbles: true})); } true`)
		}
		key("body", "/")
		w.until(`document.activeElement === document.querySelector("dialog[open] input")`)
		write("badge")
		w.until(`(document.querySelector("dialog li") || {textContent: ""}).textContent.includes("badge.png")`)
		w.stop("search dialog")
		key("dialog input", "ArrowDown")
		w.until(`document.activeElement.matches("dialog li a")`)
		eval[bool](w, `document.querySelector("dialog").close(); true`)
		key("body", "/")
		w.until(`document.querySelector("dialog[open] input").value === "badge"`)
		write("17")
		w.until(`(document.querySelector("dialog li") || {textContent: ""}).textContent.includes("Two monitors")`)
		w.then(`document.querySelector("dialog input").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true}))`)
		if at := eval[string](w, "location.pathname"); at != "/cases/17" {
			t.Errorf("Enter leads to %s", at)
		}
		w.visit("/search?q=rates")
		w.stop("search page")
	}
}
