//go:build browser

package web

import (
	"fmt"
	"strings"
	"testing"
)

// TestBrowserSchedule: the form of an entry says as one types when it fires, what the
// clocks do to it, and what is free; the list follows what fires.
func TestBrowserSchedule(t *testing.T) {
	for _, width := range []int64{1440, 390} {
		g := browserRig(t)
		g.furnishSchedule(t)
		w := g.open(t, width)
		w.visit("/schedule")
		w.logIn("ann", password)
		w.stop("schedule")
		w.visit("/schedule/" + g.furnished(t, "Collect inbox"))
		w.stop("entry")
		w.visit("/schedule/new")
		w.stop("new entry")
		types := func(values ...string) {
			for i := 0; i+1 < len(values); i += 2 {
				eval[bool](w, fmt.Sprintf(`(f => { f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true})); return true; })(document.querySelector("#f-" + %q))`, values[i+1], values[i]))
			}
		}
		types("title", "Stocktaking", "route", "bug", "hour", "23", "minute", "")
		w.until(`document.querySelector("#preview").textContent.includes("Every minute from 23:00 to 23:59: is that meant?")`)
		types("day", "last sun", "hour", "2", "minute", "30", "timezone", "Europe/Stockholm")
		w.until(`document.querySelector("#preview").textContent.includes("clocks go forward: there is no 02:30")`)
		w.stop("preview")
		types("hour", "25")
		w.until(`document.querySelector("#f-hour").hasAttribute("aria-invalid")`)
		types("hour", "2")
		w.until(`!document.querySelector("#f-hour").hasAttribute("aria-invalid")`)
		w.then(`document.querySelector("#entry-form").requestSubmit(document.querySelector("#entry-form button.main-act"))`)
		if got := w.text("h1"); got != "Stocktaking" {
			t.Errorf("after it was stored the page is %q", got)
		}
		if got := w.text("#next"); !strings.Contains(got, "Sun 31 Mar, 03:00clocks go forward") {
			t.Errorf("the page of the entry says %q", got)
		}
		w.stop("stored entry")
	}
}
