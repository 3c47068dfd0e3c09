//go:build browser

package web

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestBrowserFirstRun: on a new server the administrator is shown three steps, which are
// ticked off one after the other, and who was asked finds the task.
func TestBrowserFirstRun(t *testing.T) {
	t.Run("flow 3 the first run", func(t *testing.T) {
		g := browserRig(t)
		g.must(t, "admin", 204, "PUT", "/dav/Admin/Teams/core.json", `{"members": []}`)
		admin, ann := g.open(t, 390), g.open(t, 1440)
		ticks := func(want int) {
			t.Helper()
			admin.visit("/tasks")
			if got := eval[int](admin, `document.querySelectorAll(".steps > li.done").length`); got != want {
				t.Errorf("%d steps are ticked off, want %d", got, want)
			}
		}
		admin.as("admin")
		ticks(0)
		admin.stop("nothing is done")
		admin.then(`document.querySelector(".steps a[href*='do=user-add']").click()`)
		admin.input("#user-add-name", "tom")
		admin.input("#user-add-password", password)
		admin.send("#user-add-name")
		admin.visit("/tasks")
		admin.then(`document.querySelector(".steps a[href*='name=core']").click()`)
		admin.input("[name=members]", "tom, ann")
		admin.send("[name=members]")
		ticks(1)
		admin.then(`document.querySelector(".steps a[href='/routes/bug/start']").click()`)
		admin.input("#start-title", "The printer is on fire")
		admin.send("#start-title")
		ticks(2)
		ann.as("ann")
		if got := ann.text("#list"); !strings.Contains(got, "The printer is on fire") {
			t.Errorf("ann's tasks: %q", got)
		}
		ticks(3)
		admin.stop("all is done")
	})
}

// flowRefused: what a form lacks is said at its field, the focus is on what says so, and
// what was typed is kept.
func flowRefused(t *testing.T, s *stage) {
	id := s.start(t, "bob", `{"route": "expense", "title": "Flow six", "xattrDict": {"amount": 1240}}`)
	for _, w := range []*window{s.ann, s.cy} {
		w.visit("/cases/" + id + "?open=refuse")
		w.expect("422")
		w.input("#c-comment", "not <i>ours</i>")
		w.send("#c-comment")
		if got := eval[string](w, `document.activeElement.id`); got != "refused" {
			t.Errorf("the focus is on %q", got)
		}
		if got := eval[string](w, `document.querySelector("#c-comment").value`); got != "not <i>ours</i>" {
			t.Errorf("of what was typed there is %q", got)
		}
		if got := w.text("#c-resolution-fault"); got == "" {
			t.Error("nothing is said at the field")
		}
		w.stop("refused")
		w.expect("")
	}
}

// flowSuspended: a case that is suspended until an instant goes on by itself, and its page
// follows.
func flowSuspended(t *testing.T, s *stage) {
	id := s.start(t, "ann", `{"route": "bug", "title": "Flow sixteen"}`)
	until := s.clock.Now().AddDate(0, 0, 2).Format("2006-01-02T15:04:05Z")
	w := s.ann
	w.visit("/cases/" + id + "?do=suspend#ask")
	w.input("#a-suspendedUntil", until)
	w.send("#a-suspendedUntil")
	w.stop("suspended")
	if eval[bool](w, `document.querySelector("#todo textarea") !== null`) {
		t.Errorf("suspended, there is to do: %q", w.text("#todo"))
	}
	w.live()
	s.advance(t, until)
	w.until(`document.querySelector("#todo textarea[name=comment]")`)
}

// flowStartWithFile: a file that is chosen, or dropped onto the form, is the input of the
// case, byte by byte.
func flowStartWithFile(t *testing.T, s *stage) {
	path := filepath.Join(t.TempDir(), "screen.bin")
	content := "\x00\xff\r\n<script>"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, give := range map[string]func(w *window){
		"chosen": func(w *window) { w.choose("#start-attachmentUUID", path) },
		"dropped": func(w *window) {
			eval[bool](w, `(f => { const d = new DataTransfer(); d.items.add(new File([new Uint8Array([0, 255, 13, 10]), "<script>"], "screen.bin")); f.dispatchEvent(new DragEvent("drop", {dataTransfer: d, bubbles: true, cancelable: true})); return true; })(document.querySelector("#start-attachmentUUID").form)`)
		},
	} {
		for _, w := range []*window{s.ann, s.bob} {
			w.visit("/routes/bug/start")
			w.stop("start with a file")
			w.input("#start-title", "Flow twenty, "+name)
			give(w)
			w.send("#start-title")
			at := eval[string](w, "location.pathname")
			if !strings.HasPrefix(at, "/cases/") {
				t.Fatalf("%s: it leads to %s: %s", name, at, w.text("#refused"))
			}
			if got := s.must(t, "ann", 200, "GET", "/dav/Workflow"+strings.Replace(at, "cases", "Cases", 1)+"/Labels/InputMessage", "").body; got != content {
				t.Errorf("%s: the input is %q, want %q", name, got, content)
			}
		}
	}
}

// flowStartForm: an amount that is missing, and then a word, are told at the field.
func flowStartForm(t *testing.T, s *stage) {
	w := s.bob
	w.visit("/routes/expense/start")
	w.input("#start-title", "Flow twenty-one")
	w.expect("422")
	for _, amount := range []string{"", "twelve"} {
		w.input(`[id="start-x.amount"]`, amount)
		w.send("#start-title")
		if got := w.text(`[id="start-x.amount-fault"]`); got == "" {
			t.Errorf("of the amount %q nothing is said", amount)
		}
		if got := eval[string](w, `document.querySelector("#start-title").value`); got != "Flow twenty-one" {
			t.Errorf("the title is %q", got)
		}
		w.stop("a fault of the start form")
	}
	w.expect("")
	w.input(`[id="start-x.amount"]`, "12")
	w.send("#start-title")
	if got := w.text("h1"); got != "Flow twenty-one" {
		t.Errorf("started, the page is %q", got)
	}
}

// flowAppPassword: the password of a device opens the drive until it is revoked.
func flowAppPassword(t *testing.T, s *stage) {
	w := s.ann
	w.visit("/mount")
	w.stop("mount")
	w.then(`(f => { f.querySelector("input.in").value = "flow 32"; f.requestSubmit(); })([...document.querySelectorAll("form")].find(f => f.elements.do && f.elements.key && f.closest("ol.steps")))`)
	secret := w.text("#secret")
	w.stop("an app password")
	opens := func() int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.http.URL+"/dav/Workflow/README.txt", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("ann", secret)
		return send(t, http.DefaultClient, r).status
	}
	if got := w.text("#used"); !strings.Contains(got, "Waiting for the first request of flow 32") {
		t.Errorf("before it is used the mark says %q", got)
	}
	if got := opens(); got != 200 {
		t.Fatalf("with the password %q: got %d", secret, got)
	}
	s.flush(t)
	w.until(`document.querySelector("#used").textContent.includes("flow 32 has used the drive")`)
	w.stop("an app password that is used")
	w.then(`document.querySelector("a[aria-label='Revoke flow 32']").click()`)
	w.then(`document.querySelector("#ask").closest("section").querySelector("form").requestSubmit()`)
	if got := opens(); got != 401 {
		t.Errorf("revoked: got %d, want 401", got)
	}
}

// flowStopped: a server that is stopped is said to be, what was typed stays and is sent when
// the server is back, and what has changed meanwhile shows.
func flowStopped(t *testing.T, s *stage) {
	id := s.start(t, "sam", `{"route": "bug", "title": "Flow thirty-three"}`)
	w := s.ann
	w.visit("/cases/" + id + "?open=resolve")
	w.live()
	w.hurry()
	w.input("#c-comment", "it was the toaster")
	for _, one := range []*window{s.ann, s.bob, s.cy} {
		one.expect("net::ERR")
		defer one.expect("")
	}
	s.front.down.Store(true)
	defer s.front.down.Store(false)
	s.front.cut()
	w.until(`document.querySelector("#live").textContent.startsWith("Not live since")`)
	eval[bool](w, `(f => { f.requestSubmit(f.querySelector("button.main-act")); return true; })(document.querySelector("#c-comment").form)`)
	w.until(`document.querySelector("#unsent")`)
	w.stop("the server is stopped")
	s.must(t, "sam", 204, "PUT", "/dav/Workflow/Cases/"+id+".json", `{"title": "Flow thirty-three, changed"}`)
	s.front.down.Store(false)
	w.until(`document.querySelector("#live").textContent === "Live"`)
	if got := eval[string](w, `document.querySelector("#c-comment").value`); got != "it was the toaster" {
		t.Errorf("of what was typed there is %q", got)
	}
	w.then(`document.querySelector("#unsent button").click()`)
	if got := w.text("#log"); !strings.Contains(got, "it was the toaster") {
		t.Errorf("the log says %q", got)
	}
}

// withoutScript opens a window that runs no script of pages.
func (g *rig) withoutScript(t *testing.T, width int64) *window {
	t.Helper()
	w := g.open(t, width)
	if _, err := chromedp.Call(w.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	return w
}

// plainly does something that leads to another page, in a window without script.
func (w *window) plainly(do string) {
	w.t.Helper()
	eval[bool](w, `document.documentElement.dataset.before = "1", (() => { `+do+`; return true; })()`)
	w.until(`!document.documentElement.dataset.before && document.readyState === "complete"`)
}

// plain sends the form that an element is in by one of its buttons, without script, also one
// that the browser would not send because something is missing.
func (w *window) plain(selector, button string) {
	w.t.Helper()
	w.plainly(fmt.Sprintf(`const f = document.querySelector(%q).closest("form"); f.noValidate = true; f.requestSubmit(f.querySelector(%q))`, selector, button))
}

// fill writes into a field without telling the page.
func (w *window) fill(selector, value string) {
	w.t.Helper()
	eval[bool](w, fmt.Sprintf(`document.querySelector(%q).value = %q, true`, selector, value))
}

// flowWithoutScript: what is essential works without script.
func flowWithoutScript(t *testing.T, s *stage) {
	claim := s.start(t, "bob", `{"route": "expense", "title": "Flow thirty-four", "xattrDict": {"amount": 1240}}`)
	task := s.start(t, "sam", `{"route": "article", "title": "Flow thirty-four too"}`)
	w := s.withoutScript(t, 390)
	main := func(selector string) { w.plain(selector, "button.main-act") }
	fill := w.fill
	w.visit("/cases/" + claim + "?open=refuse") // 1: the log-in leads on
	fill("#u", "ann")
	fill("#p", password)
	main("#u")
	if got := w.text("h1"); got != "Flow thirty-four" {
		t.Fatalf("after the log-in the page is %q", got)
	}
	w.expect("422")
	fill("#c-comment", "private") // 6: refused, and kept
	main("#c-comment")
	if got := eval[string](w, `document.querySelector("#c-comment").value`); got != "private" || w.text("#c-resolution-fault") == "" {
		t.Errorf("refused, of what was typed there is %q", got)
	}
	w.expect("")
	w.visit("/tasks?open=" + task + ".write&do=delegate") // 9: delegate
	fill("[name=to]", "cy")
	main("[name=to]")
	if got := s.must(t, "cy", 200, "GET", "/dav/Workflow/Worklist/Offered/.contents", "").body; !strings.Contains(got, "Flow thirty-four too") {
		t.Errorf("delegated, cy has %s", got)
	}
	path := filepath.Join(t.TempDir(), "thirty-four.txt") // 20: start with a file
	if err := os.WriteFile(path, []byte("34"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.visit("/routes/bug/start")
	fill("#start-title", "Flow thirty-four, three")
	w.choose("#start-attachmentUUID", path)
	main("#start-title")
	at := eval[string](w, "location.pathname")
	if got := s.must(t, "ann", 200, "GET", "/dav/Workflow"+strings.Replace(at, "cases", "Cases", 1)+"/Labels/InputMessage", "").body; got != "34" {
		t.Errorf("the input is %q", got)
	}
	w.visit("/routes/bug/board?do=move&case=" + strings.TrimPrefix(at, "/cases/")) // 17: by the menu of a card
	if got := w.text("#ask"); got == "" {
		t.Error("the board asks nothing without script")
	}
	w.visit("/schedule/new") // 25: what an entry would do
	fill("#f-title", "Flow thirty-four, four")
	fill("#f-route", "bug")
	fill("#f-hour", "2")
	fill("#f-minute", "30")
	main("#f-title")
	if got := w.text("h1"); got != "Flow thirty-four, four" {
		t.Errorf("after an entry was stored the page is %q", got)
	}
}

// flowKeys: by keys alone a case is found and opened, and the focus is seen.
func flowKeys(t *testing.T, s *stage) {
	id := s.start(t, "sam", `{"route": "bug", "title": "Flow thirty-five"}`)
	w := s.cy
	seen := w.seesFocus
	w.visit("/tasks?sort=newest")
	w.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	w.until(`document.activeElement.matches("dialog[open] input")`)
	seen("search")
	w.press(id)
	if got := eval[string](w, `document.activeElement.value`); got != id {
		t.Fatalf("the search has %q, want %q", got, id)
	}
	w.until(`(document.querySelector("dialog li") || {textContent: ""}).textContent.includes("Flow thirty-five")`)
	w.press(kb.Enter)
	w.until(`location.pathname === "/cases/` + id + `" && document.readyState === "complete"`)
	w.press("gt")
	w.until(`location.pathname === "/tasks" && document.readyState === "complete"`)

	w.visit("/tasks?q=thirty-five") // 4: perform
	w.press("j")
	seen("a row")
	if got := w.text(":focus"); got != "Flow thirty-five" {
		t.Fatalf("j leads to %q", got)
	}
	w.press("e")
	w.until(`document.activeElement.matches("#t` + id + ` textarea[name=comment]")`)
	seen("a comment")
	w.press("by keys alone")
	w.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	w.until(`document.querySelector("#notice") !== null`)
	if log := s.must(t, "sam", 200, "GET", "/dav/Workflow/Cases/"+id+"/log.txt", "").body; !strings.Contains(log, "by keys alone") {
		t.Errorf("the log has no comment:\n%s", log)
	}
}

// flowZoom: at 400 % of 1280 pixels nothing but pictures, boards and tables scrolls sideways.
func flowZoom(t *testing.T, s *stage) {
	s.start(t, "ann", `{"route": "bug", "title": "`+strings.Repeat("withoutblanks", 12)+`"}`)
	for _, width := range []int64{320, 390} {
		w := s.open(t, width)
		w.as("ann")
		flowNarrow(t, w, width)
	}
}

// flowNarrow looks at pages in a window that is so narrow.
func flowNarrow(t *testing.T, w *window, width int64) {
	for _, path := range []string{
		"/tasks", "/tasks?open=17.approve", "/cases", "/cases/17", "/cases/21", "/routes", "/routes/bug", "/routes/bug/board", "/routes/bug/start", "/routes/expense/report",
		"/routes/new", "/routes/bug/versions", "/routes/leave/versions?from=1&to=2", "/routes/leave/access", "/routes/bug/access", "/schedule", "/schedule/new", "/documents/core", "/attachments", "/search?q=a", "/account", "/mount", "/late", "/keys",
	} {
		w.visit(path)
		if got := w.tooWide(width); got != "" {
			t.Errorf("%s is wider than %d pixels: %s", path, width, got)
		}
		if got := w.overlaps(); got != "" {
			t.Errorf("%s, %d pixels wide, has texts on top of each other: %s", path, width, got)
		}
	}
}

// flowOfOthers: a case of others is a page that is not there.
func flowOfOthers(t *testing.T, s *stage) {
	w := s.open(t, 390)
	w.as("sam")
	w.expect("404")
	w.visit("/cases/17")
	request := regexp.MustCompile(`Request [0-9a-f]+`) // each has a number of its own
	said := request.ReplaceAllString(w.text("main"), "")
	w.stop("a case of others")
	w.visit("/cases/999999")
	if none := request.ReplaceAllString(w.text("main"), ""); said != none || strings.Contains(said, "monitors") {
		t.Errorf("of a case of others the page says %q, of none %q", said, none)
	}
}

// flowHostile: what people write is text everywhere, also in pictures.
func flowHostile(t *testing.T, s *stage) {
	hostile := `<img src=x onerror="window.hit=1"><script>window.hit=1</script>`
	body := strings.Replace(teaRoute, "title: Wanted", `title: '`+hostile+`'`, 1)
	s.must(t, "ann", 201, "PUT", "/dav/Workflow/Routes/hostile40.yaml", strings.Replace(body, "title: Tea", "title: '"+hostile+"'", 1))
	id := s.start(t, "ann", fmt.Sprintf(`{"route": "hostile40", "title": %q}`, hostile))
	s.must(t, "ann", 201, "PUT", "/dav/Workflow/Cases/"+id+"/Labels/note", hostile)
	w := s.ann
	for _, path := range []string{"/cases/" + id, "/cases", "/tasks", "/routes/hostile40", "/routes/hostile40/board", "/routes/hostile40/versions", "/routes/hostile40/report", "/routes/hostile40/start", "/routes", "/search?q=onerror"} {
		w.visit(path)
		if eval[bool](w, `window.hit === 1 || document.querySelector("main img[src=x]") !== null`) {
			t.Errorf("%s: what somebody wrote is not text", path)
		}
	}
	w.visit("/cases/" + id)
	if got := w.text("h1"); got != hostile {
		t.Errorf("the title is %q", got)
	}
}

// flowNewPages asks the rules of axe-core of pages that no flow stops at.
func flowNewPages(t *testing.T, s *stage) {
	for _, w := range []*window{s.ann, s.bob} {
		for _, path := range []string{"/routes", "/routes/expense", "/routes/expense/report", "/routes/expense/versions/1", "/routes/expense/access", "/routes/expense/board", "/late", "/tasks/done", "/cases", "/attachments", "/account", "/sandbox", "/keys"} {
			w.visit(path)
			w.stop(path)
		}
	}
}

// flowSessionEnds: who is disabled while looking is led to the log-in. What was typed when a
// session ended is sent after a log-in on the spot.
func flowSessionEnds(t *testing.T, s *stage) {
	id := s.start(t, "sam", `{"route": "bug", "title": "Flow thirty-seven"}`)
	w := s.ann
	w.visit("/cases/" + id + "?open=resolve")
	w.input("#c-comment", "written before the end")
	// The page asks on its own, too: its events and its search end with the session.
	w.expect("401")
	eval[bool](w, `fetch("/logout", {method: "POST", body: new URLSearchParams({do: "logout"})}).then(() => true)`)
	eval[bool](w, `(f => { f.requestSubmit(f.querySelector("button.main-act")); return true; })(document.querySelector("#c-comment").form)`)
	w.until(`document.querySelector("#log-in[open]")`)
	w.stop("log in again")
	w.input("#log-in-u", "ann")
	w.input("#log-in-p", "wrong")
	eval[bool](w, `document.querySelector("#log-in form").requestSubmit() || true`)
	w.until(`!document.querySelector("#log-in .note").hidden`)
	w.input("#log-in-p", password)
	w.then(`document.querySelector("#log-in form").requestSubmit()`)
	w.expect("")
	if got := w.text("#log"); !strings.Contains(got, "written before the end") {
		t.Errorf("the log says %q", got)
	}
	s.cy.visit("/tasks")
	s.cy.live()
	s.cy.hurry()
	s.cy.expect("401")
	s.must(t, "admin", 200, "PUT", "/dav/Admin/Users/cy.json", `{"disabled": true}`)
	s.cy.until(`location.pathname === "/login"`)
	s.cy.stop("led to the log-in")
}

// flush has the server write what no request waits for, as it does by itself when it runs.
func (g *rig) flush(t *testing.T) {
	t.Helper()
	if g.engine == nil {
		return // it runs, and does it soon
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := g.engine.Run(ended); err != nil {
		t.Fatal(err)
	}
}

// flowWhatIsAsked: a form asks for what the chosen action needs alone, and its button says
// which action that is.
func flowWhatIsAsked(t *testing.T, s *stage) {
	id := s.start(t, "bob", `{"route": "expense", "title": "What is asked", "xattrDict": {"amount": 1240}}`)
	for _, w := range []*window{s.ann, s.withoutScript(t, 390).as("cy")} {
		// axe-core needs scripts.
		stop := func(where string) {
			if w == s.ann {
				w.stop(where)
			}
		}
		w.visit("/cases/" + id)
		shown := func() string {
			t.Helper()
			return eval[string](w, `[...document.querySelectorAll("#todo legend, #todo button.main-act, #todo a.quiet")].filter(e => e.offsetParent).map(e => e.innerText.trim().replace(/\s+/g, " ")).join("; ")`)
		}
		if got, want := shown(), "Approve; Accept for me; Reject…; Delegate…"; got != want {
			t.Errorf("Approve is chosen, and the form shows %q, want %q", got, want)
		}
		stop("approve")
		eval[bool](w, `document.querySelector("#todo [name=action][value=refuse]").click(), true`)
		if got, want := shown(), "Resolution of Refuse needed for it; Refuse; Accept for me; Reject…; Delegate…"; got != want {
			t.Errorf("Refuse is chosen, and the form shows %q, want %q", got, want)
		}
		stop("refuse")
	}
}
