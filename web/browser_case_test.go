//go:build browser

package web

import (
	"fmt"
	"strings"
	"testing"
)

// TestBrowserCaseForms: each form with which the page of a case changes it keeps the rules of
// axe-core when it is open, when it was refused, and when it was sent.
func TestBrowserCaseForms(t *testing.T) {
	g := browserRig(t)
	g.furnish(t)
	for _, width := range []int64{1440, 390} {
		w := g.open(t, width).as("admin")
		id := g.start(t, "bob", `{"route": "expense", "title": "A lamp", "xattrDict": {"amount": 1240}}`)
		page := "/cases/" + id
		for _, form := range []struct{ do, field, wrong, right, says string }{
			{"remark", "#remark-comment", "", "seen <b>twice</b>", "Your remark is in the log."},
			{"fields", `[id="fields-x.reason"]`, "", "too dark", "The fields are stored."},
			{"people", "#people-stakeholders", "nobody-of-that-name", "sam, cy", "The people are stored."},
			{"context", "#context-context", "nowhere", "admin", "The case belongs to another context."},
			{"links", "#links-links", "duplicateOf", "duplicateOf = 17", "The links are stored."},
			{"label", "#label-label", "", "Offer", "The message is written."},
		} {
			w.visit(page + "?do=" + form.do)
			w.stop(form.do)
			if form.wrong != "" {
				w.expect("status of 4")
				w.input(form.field, form.wrong)
				w.send(form.field)
				if got := w.text("#refused"); got == "" {
					t.Errorf("%s: %q was taken", form.do, form.wrong)
				}
				if got := eval[string](w, fmt.Sprintf("document.querySelector(%q).value", form.field)); got != form.wrong {
					t.Errorf("%s: of what was typed there is %q", form.do, got)
				}
				w.stop(form.do + ", refused")
				w.expect("")
			}
			w.input(form.field, form.right)
			w.send(form.field)
			if got := w.text("#notice"); !strings.HasPrefix(got, form.says) {
				t.Errorf("%s: the notice says %q: %s", form.do, got, w.text("#refused"))
			}
			w.stop(form.do + ", sent")
		}
		body := w.text("main")
		for _, want := range []string{"seen <b>twice</b>", "too dark", "Cy Tanaka", "duplicateOf", "Offer"} {
			if !strings.Contains(body, want) {
				t.Errorf("the page has no %q", want)
			}
		}
		paid := g.start(t, "bob", `{"route": "expense", "title": "A bulb", "xattrDict": {"amount": 12}}`) // is paid at once
		w.visit("/cases/" + paid + "?do=archive")
		w.stop("archive")
		w.send("[name=do][value=archive]")
		w.stop("archived")
		if got := w.text("#head"); !strings.Contains(got, "This case is in the archive.") {
			t.Errorf("archived, the page says %q", got)
		}
	}
}

// TestBrowserRouteDrop: a file that is dropped onto the page of a route starts a case, and so
// does one that is chosen there without script.
func TestBrowserRouteDrop(t *testing.T) {
	g := browserRig(t)
	g.furnish(t)
	for _, width := range []int64{1440, 390} {
		w := g.open(t, width).as("ann")
		w.visit("/routes/bug")
		w.stop("the page of a route")
		w.then(`(f => { const d = new DataTransfer(); d.items.add(new File(["it is on fire\n"], "printer " + innerWidth + ".txt")); f.dispatchEvent(new DragEvent("drop", {dataTransfer: d, bubbles: true, cancelable: true})); })(document.querySelector("[data-at-once]"))`)
		at := eval[string](w, "location.pathname")
		if !strings.HasPrefix(at, "/cases/") {
			t.Fatalf("a drop leads to %s: %s", at, w.text("#refused"))
		}
		if got := w.text("h1"); !strings.HasPrefix(got, "printer ") {
			t.Errorf("the case is titled %q", got)
		}
		if got := w.text("#notice"); !strings.HasPrefix(got, "A case was made with printer ") {
			t.Errorf("the notice says %q", got)
		}
		w.stop("the case that a drop has started")
		if got := g.must(t, "ann", 200, "GET", "/dav/Workflow"+strings.Replace(at, "cases", "Cases", 1)+"/Labels/InputMessage", "").body; got != "it is on fire\n" {
			t.Errorf("its input is %q", got)
		}
	}
}
