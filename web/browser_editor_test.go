//go:build browser

package web

import (
	"fmt"
	"strings"
	"testing"
)

// TestBrowserEditor: a mistake is named with its place as one types, F8 leads there, what
// was typed survives the end of the session, and what is valid is drawn and stored.
func TestBrowserEditor(t *testing.T) {
	g := browserRig(t)
	g.furnish(t)
	w := g.open(t, 1440)
	w.visit("/routes/bug/edit")
	w.logIn("admin", password)
	w.stop("editor")
	types := func(from, to string) {
		eval[bool](w, fmt.Sprintf(`(a => { a.value = a.value.replace(%q, %q); a.dispatchEvent(new Event("input", {bubbles: true})); return true; })(document.querySelector("#f-source"))`, from, to))
	}
	types("states:", "statez:")
	w.until(`document.querySelector("#check a[data-line]")`)
	if got := eval[string](w, `[...document.querySelectorAll(".faults mark.fault")].map(m => m.textContent).join("; ")`); !strings.Contains(got, "statez:") {
		t.Errorf("underlined is %q", got)
	}
	if off := eval[string](w, `(() => { const a = getComputedStyle(document.querySelector("#f-source")), c = getComputedStyle(document.querySelector(".faults")); return ["fontSize", "fontFamily", "lineHeight", "paddingLeft", "paddingTop", "borderLeftWidth", "tabSize"].filter(p => a[p] !== c[p]).map(p => p + " " + a[p] + " " + c[p]).join("; "); })()`); off != "" {
		t.Errorf("the underlines do not lie on the text: %s", off)
	}
	if lines, numbers := eval[int](w, `document.querySelector("#f-source").value.split("\n").length`), eval[int](w, `document.querySelector(".lines").textContent.split("\n").length`); lines != numbers {
		t.Errorf("beside %d lines are %d numbers", lines, numbers)
	}
	if got := w.text("#check section:has(> .dia) .sub"); got != "as it was last valid" {
		t.Errorf("while there is a fault, the picture is %q", got)
	}
	w.stop("faults")
	for range eval[int](w, `[...document.querySelectorAll("#check a[data-line]")].findIndex(a => a.closest("li").textContent.includes("statez")) + 1`) {
		eval[bool](w, `document.dispatchEvent(new KeyboardEvent("keydown", {key: "F8", bubbles: true, cancelable: true})) || true`)
	}
	if got := eval[string](w, `(a => a.value.slice(a.selectionStart, a.selectionEnd))(document.activeElement)`); !strings.HasPrefix(got, "statez") {
		t.Errorf("F8 leads to %q", got)
	}
	w.expect("422")
	w.then(`document.querySelector("#edit").requestSubmit(document.querySelector("#edit button.main-act"))`)
	if got := w.text("#refused"); got == "" {
		t.Error("it is stored with a fault")
	}
	w.expect("")
	types("statez:", "states:")
	w.until(`document.querySelector("#check svg")`)
	if eval[bool](w, `document.querySelector(".faults mark.fault") !== null`) {
		t.Error("what is valid is underlined")
	}
	w.stop("valid")

	types("title: Bug", "title: Bug report")
	w.until(`document.querySelector("#check h2").textContent === "No fault"`)
	w.expect("401")
	eval[bool](w, `fetch("/logout", {method: "POST", body: new URLSearchParams({do: "logout"})}).then(() => true)`)
	eval[bool](w, `document.querySelector("#edit").requestSubmit(document.querySelector("#edit button.main-act")) || true`)
	w.until(`document.querySelector("#log-in[open]")`) // who does not log in there finds the text later
	w.expect("beforeunload")
	w.visit("/routes/bug/edit")
	w.logIn("admin", password)
	w.expect("")
	eval[bool](w, `document.querySelector(".note button").click() || true`)
	w.until(`document.querySelector("#f-source").value.includes("title: Bug report") && document.querySelector("#check h2").textContent === "No fault"`)
	w.then(`document.querySelector("#edit").requestSubmit(document.querySelector("#edit button.main-act"))`)
	if got := w.text("h1"); got != "Bug report" {
		t.Errorf("stored it is %q", got)
	}

	phone := g.open(t, 390)
	phone.visit("/routes/new")
	phone.logIn("ann", password)
	phone.stop("new route on a phone")
}
