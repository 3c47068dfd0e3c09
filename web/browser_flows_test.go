//go:build browser

package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// stage is a server and windows in which several flows are played, one after the other,
// each with things of its own.
type stage struct {
	*rig
	ann, bob, cy *window
	front        *front
}

// front stands between the browser and the server, and can lose their connections.
type front struct {
	handler http.Handler
	down    atomic.Bool  // every connection is lost
	after   atomic.Int64 // a PUT is lost after so many bytes; 0: none is
	cut     func()       // ends the connections that there are
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.down.Load() {
		panic(http.ErrAbortHandler) // ends the connection without an answer
	}
	if n := f.after.Load(); n > 0 && r.Method == http.MethodPut {
		r.Body = http.MaxBytesReader(w, r.Body, n)
		f.handler.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	f.handler.ServeHTTP(w, r)
}

// as logs the user of a window in.
func (w *window) as(user string) *window {
	w.t.Helper()
	w.visit("/login")
	w.logIn(user, password)
	return w
}

// press presses keys as a keyboard does.
func (w *window) press(keys string, options ...chromedp.KeyOption) {
	w.t.Helper()
	if err := chromedp.Do(w.ctx, chromedp.KeyEvent(keys, options...)); err != nil {
		w.t.Fatal(err)
	}
}

// input writes into a field.
func (w *window) input(selector, value string) {
	w.t.Helper()
	eval[bool](w, fmt.Sprintf(`(f => { f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true})); return true; })(document.querySelector(%q))`, value, selector))
}

// send sends the form that an element is in by its main button, also one that the browser
// would not send because something is missing, and waits for the page.
func (w *window) send(selector string) {
	w.t.Helper()
	w.then(fmt.Sprintf(`(f => { f.noValidate = true; f.requestSubmit(f.querySelector("button.main-act")); })(document.querySelector(%q).closest("form"))`, selector))
}

// tooWide returns what makes the page scroll sideways in a window of the width.
func (w *window) tooWide(width int64) string {
	w.t.Helper()
	return eval[string](w, fmt.Sprintf(`document.documentElement.scrollWidth <= %d ? "" : [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > %d + 1).slice(0, 6).map(e => e.tagName + "." + (e.getAttribute("class") || "") + " " + Math.round(e.getBoundingClientRect().right)).join("; ")`, width, width))
}

// overlaps returns the texts in cells of tables that are drawn on top of each other.
func (w *window) overlaps() string {
	w.t.Helper()
	return eval[string](w, `(() => {
		const drawn = (cell) => {
			const all = [];
			for (let walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT); walk.nextNode();) {
				const r = document.createRange();
				r.selectNodeContents(walk.currentNode);
				const near = walk.currentNode.parentElement;
				if (!near.closest(".vh, details:not([open]) > :not(summary)") && near.checkVisibility()) all.push(...r.getClientRects());
			}
			return all;
		};
		const found = [];
		for (const row of document.querySelectorAll(".tbl tr")) {
			const cells = [...row.cells].map((c) => [c, drawn(c).filter((r) => r.width && r.height)]);
			for (const [i, [a, of]] of cells.entries()) for (const [b, others] of cells.slice(i + 1)) {
				if (of.some((p) => others.some((q) => Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 1))) found.push(a.textContent.trim() + " | " + b.textContent.trim());
			}
		}
		return found.slice(0, 4).join("; ");
	})()`)
}

// hurry makes what the page waits for short.
func (w *window) hurry() {
	w.t.Helper()
	eval[bool](w, `(wait => { window.setTimeout = (f, ms, ...a) => wait(f, ms > 500 ? 20 : ms, ...a); return true; })(window.setTimeout)`)
}

// live waits until the page hears of changes.
func (w *window) live() {
	w.t.Helper()
	w.until(`document.querySelector("#live").hidden === false`)
}

// TestBrowserFlows plays flows of docs/pages.md#flows.
func TestBrowserFlows(t *testing.T) {
	s := &stage{rig: browserRig(t), front: new(front)}
	s.furnish(t)
	s.front.handler = s.http.Config.Handler
	through := httptest.NewServer(s.front)
	t.Cleanup(through.Close)
	s.front.cut = through.CloseClientConnections
	s.ann, s.bob, s.cy = s.open(t, 1440), s.open(t, 390), s.open(t, 1440)
	for user, w := range map[string]*window{"ann": s.ann, "bob": s.bob, "cy": s.cy} {
		w.base = through.URL
		w.as(user)
	}
	for _, flow := range []struct {
		name string
		play func(*testing.T, *stage)
	}{
		{"flow 6 a refused form", flowRefused},
		{"what is asked", flowWhatIsAsked},
		{"flow 7 to 9 others accept and delegate", flowOthers},
		{"flow 10 a deputy", flowDeputy},
		{"flow 11 several at once", flowSeveral},
		{"flow 12 a change while one types", flowTyping},
		{"flow 13 three vote", flowVote},
		{"flow 14 four eyes", flowFourEyes},
		{"flow 15 the date of a timer", flowTimer},
		{"flow 16 suspended until a date", flowSuspended},
		{"flow 20 start with a file", flowStartWithFile},
		{"flow 21 the start form", flowStartForm},
		{"flow 23 store and move cases", flowMoveCases},
		{"flow 24 two editors at once", flowTwoEditors},
		{"flow 27 pause", flowPause},
		{"flow 28 an entry fails", flowFailure},
		{"flow 29 an upload that is cut", flowCutUpload},
		{"flow 32 an app password", flowAppPassword},
		{"flow 33 a stopped server", flowStopped},
		{"flow 34 without script", flowWithoutScript},
		{"flow 34 more without script", flowMoreWithoutScript},
		{"flow 35 by keys alone", flowKeys},
		{"flow 35 a board and an entry by keys", flowKeysOnBoard},
		{"flow 36 zoom", flowZoom},
		{"flow 38 a case of others", flowOfOthers},
		{"flow 39 many tasks", flowManyTasks},
		{"flow 40 hostile texts", flowHostile},
		{"flow 40 hostile fields", flowHostileFields},
		{"every new page", flowNewPages},
		{"flow 37 a session that ends", flowSessionEnds},
	} {
		t.Run(flow.name, func(t *testing.T) {
			for _, w := range []*window{s.ann, s.bob, s.cy} {
				defer w.on(w.on(t))
			}
			flow.play(t, s)
		})
	}
}

// flowOthers: what others do to a task is told where one looks; who performs it all the
// same is told why not; and who it was delegated to has it.
func flowOthers(t *testing.T, s *stage) {
	id := s.start(t, "sam", `{"route": "article", "title": "Flow seven"}`)
	at := "/dav/Workflow/Cases/" + id + "/Actions/write.json"
	s.bob.visit("/tasks?q=seven&open=" + id + ".write")
	s.bob.live()
	s.cy.visit("/cases/" + id)
	s.cy.live()
	s.ann.visit("/tasks?q=seven")
	s.ann.then(fmt.Sprintf(`[...document.querySelectorAll("#t%s .acts form")].find(f => f.elements.do.value === "accept").requestSubmit()`, id))
	s.bob.until(`document.querySelector("#list .gone") && document.querySelector("#list .gone").textContent.includes("Ann Lindqvist accepted Write")`)
	s.cy.until(`document.querySelector("#todo").textContent.includes("Ann Lindqvist has accepted it")`)
	s.cy.stop("accepted by another")
	s.bob.expect("409")
	s.bob.input("textarea[name=comment]", "mine")
	s.bob.send("textarea[name=comment]")
	if got := s.bob.text("#refused"); !strings.Contains(got, "ann has accepted") {
		t.Errorf("performed all the same, the page says %q", got)
	}
	if got := s.bob.text("blockquote"); got != "mine" {
		t.Errorf("of what was typed there is %q", got)
	}
	s.bob.stop("performed all the same")
	s.bob.expect("")

	s.cy.visit("/tasks?q=seven")
	s.cy.live()
	s.must(t, "ann", 204, "PUT", at, `{"do": "delegate", "to": "cy"}`)
	s.cy.until(`document.querySelector("#list .newbar")`)
	s.cy.visit("/tasks?q=seven")
	if got := s.cy.text("#t" + id); !strings.Contains(got, "Accept") {
		t.Errorf("delegated, the row says %q", got)
	}
	for user, others := range map[string]*window{"ann": s.ann, "bob": s.bob} { // to cy alone
		others.visit("/tasks?q=seven")
		if got := others.text("#t" + id); got != "" {
			t.Errorf("delegated, %s has %q", user, got)
		}
	}

	s.cy.visit("/cases/" + id)
	s.cy.live()
	s.must(t, "admin", 204, "DELETE", "/dav/Workflow/Cases/"+id+".json", "")
	s.cy.until(`document.querySelector("#head").textContent.includes("This case is canceled") && document.querySelector("#live").hidden === false`)
	s.cy.stop("canceled by another")
}

// flowTyping: what is typed stays if the case changes meanwhile, on the page of the case
// and in the list of tasks.
func flowTyping(t *testing.T, s *stage) {
	id := s.start(t, "sam", `{"route": "bug", "title": "Flow twelve"}`)
	for _, page := range []string{"/cases/" + id + "?open=resolve", "/tasks?q=twelve&open=" + id + ".resolve"} {
		s.ann.visit(page)
		s.ann.live()
		s.ann.input("textarea[name=comment]", "half a sentence")
		s.must(t, "sam", 204, "PUT", "/dav/Workflow/Cases/"+id+".json", fmt.Sprintf(`{"title": "Flow twelve, part %d"}`, len(page)))
		s.ann.until(`(document.querySelector(".changed") || {textContent: ""}).textContent.includes("This has changed. What you wrote stays. Show it")`)
		if got := eval[string](s.ann, `document.querySelector("textarea[name=comment]").value`); got != "half a sentence" {
			t.Errorf("%s: of what was typed there is %q", page, got)
		}
		s.ann.stop("changed while typing")
	}
}

// teaRoute is a route that ann may change.
const teaRoute = "title: Tea\naccess: {start: [everyone], admin: [ann]}\nroles: {host: {assign: ['team:core']}}\nstates: {wanted: {type: start, title: Wanted}, drunk: {type: complete}}\nactions: {ask: {trigger: init}, pour: {in: [wanted], to: drunk, role: host}}\n"

// flowMoveCases: the page says which cases would move, and they move when it is stored.
func flowMoveCases(t *testing.T, s *stage) {
	s.must(t, "ann", 201, "PUT", "/dav/Workflow/Routes/tea.yaml", teaRoute)
	id := s.start(t, "ann", `{"route": "tea", "title": "Green"}`)
	w := s.ann
	w.visit("/routes/tea/edit")
	w.input("#f-source", strings.Replace(teaRoute, "Wanted", "Longed for", 1))
	eval[bool](w, `(b => { b.click(); return b.checked; })(document.querySelector("[name=migrate]"))`)
	w.until(`document.querySelector("#check").textContent.includes("1 would move")`)
	w.stop("which cases would move")
	w.send("#f-source")
	if said := w.text("#notice"); !strings.Contains(said, "Its open cases have moved to this version.") {
		t.Errorf("stored, the page says %q of the case that has moved", said)
	}
	if stored := s.must(t, "ann", 200, "GET", "/dav/Workflow/Cases/"+id+".json", "").body; !strings.Contains(stored, `"routeVersion": 2`) {
		t.Errorf("the case has not moved: %s", stored)
	}
	w.visit("/routes/tea/versions")
	w.stop("versions")
	w.visit("/cases/" + id)
	if got := w.text("#where"); !strings.Contains(got, "Longed for") {
		t.Errorf("the case says %q", got)
	}
}

// flowTwoEditors: who stores second sees both texts and chooses.
func flowTwoEditors(t *testing.T, s *stage) {
	s.must(t, "ann", 201, "PUT", "/dav/Workflow/Routes/coffee.yaml", teaRoute)
	w := s.ann
	w.visit("/routes/coffee/edit")
	s.must(t, "ann", 204, "PUT", "/dav/Workflow/Routes/coffee.yaml", strings.Replace(teaRoute, "Tea", "Theirs", 1))
	w.input("#f-source", strings.Replace(teaRoute, "Tea", "Ours", 1))
	w.expect("412")
	w.send("#f-source")
	if got := w.text("#refused"); !strings.Contains(got, "Somebody has stored another version") {
		t.Errorf("stored second, the page says %q", got)
	}
	if got := w.text(".code"); !strings.Contains(got, "-title: Theirs") || !strings.Contains(got, "+title: Ours") {
		t.Errorf("the texts are not both shown: %q", got)
	}
	w.stop("both texts")
	w.expect("")
	w.send("#f-source")
	if got := w.text("h1"); got != "Ours" {
		t.Errorf("stored all the same, the route is %q", got)
	}
}

var entryID = regexp.MustCompile(`[0-9a-f]{32}`)

// entry stores an entry of ann's and returns its UUID.
func (s *stage) entry(t *testing.T, body string) string {
	t.Helper()
	return entryID.FindString(s.must(t, "ann", 201, "PUT", "/dav/Workflow/Schedule/new.json", body).header.Get("Location"))
}

// pass lets time pass.
func (s *stage) pass(t *testing.T, d time.Duration) {
	t.Helper()
	s.advance(t, s.clock.Now().Add(d).Format(time.RFC3339))
}

// flowPause: an entry that is paused says why; what it misses is said when it goes on.
func flowPause(t *testing.T, s *stage) {
	id := s.entry(t, `{"type": "interval", "title": "Water the plants", "route": "bug", "context": "core", "hours": 1, "misfire": "skip"}`)
	w := s.ann
	w.visit("/schedule/" + id + "?do=pause#ask")
	w.stop("asked for a note")
	w.input("#a-note", "until <b>the rain</b> ends")
	w.send("#a-note")
	w.visit("/schedule")
	w.live()
	s.pass(t, 150*time.Minute)
	if got := w.text("#entry-" + id); !strings.Contains(got, "until <b>the rain</b> ends") {
		t.Errorf("paused, the row says %q", got)
	}
	w.then(fmt.Sprintf(`document.querySelector("#entry-%s [aria-label^='Resume']").click()`, id))
	w.visit("/schedule/" + id)
	if got := w.text("#history"); strings.Count(got, "kipped") < 2 || strings.Contains(got, "case ") {
		t.Errorf("what it missed: %q", got)
	}
	if got := eval[int](w, `document.querySelectorAll("#history .skip").length`); got < 2 {
		t.Errorf("there are %d hollow marks", got)
	}
	w.stop("gone on")
}

// flowFailure: a document that an entry needs is not deleted; an entry that fails says so
// where one looks, and goes on when its reason is gone.
func flowFailure(t *testing.T, s *stage) {
	const route = "title: Intake 28\naccess: {start: [%s]}\nroles: {worker: {assign: ['team:core']}}\nstates: {new: {type: start}, done: {type: complete}}\nactions: {begin: {trigger: init}, finish: {in: [new], to: done, role: worker}}\n"
	put := func(status int, who string) {
		s.must(t, "admin", status, "PUT", "/dav/Workflow/Routes/intake28.yaml", fmt.Sprintf(route, who))
	}
	put(201, "everyone")
	s.must(t, "ann", 201, "PUT", "/dav/Documents/core/flow28.csv", "a,b\n")
	id := s.entry(t, `{"type": "interval", "title": "Read flow 28", "route": "intake28", "context": "core", "hours": 1, "document": "/dav/Documents/core/flow28.csv"}`)
	w := s.ann
	w.visit("/documents/core?do=delete&name=flow28.csv")
	w.expect("409")
	w.then(`document.querySelector("#ask").closest("section").querySelector("form").requestSubmit()`)
	if got := w.text("main"); !strings.Contains(got, "in use by the schedule entry") {
		t.Errorf("a document that an entry needs: %q", got)
	}
	w.stop("a document in use")
	w.expect("")
	w.visit("/schedule")
	w.live()
	put(204, "sam")
	s.pass(t, 65*time.Minute)
	w.until(fmt.Sprintf(`document.querySelector("#entry-%s .fail")`, id))
	if got := w.text("#entry-" + id + " .wtext"); !strings.Contains(got, "start") {
		t.Errorf("the row says %q", got)
	}
	if got := eval[string](w, fmt.Sprintf(`(m => Math.round(m.getBBox().height) + " of " + m.ownerSVGElement.viewBox.baseVal.height)(document.querySelector("#entry-%s .fail"))`, id)); got != "27 of 28" { // a unit is the line below
		t.Errorf("the mark of a failure is %s units high", got)
	}
	w.stop("failed")
	w.visit("/schedule/" + id)
	if got := w.text("main"); !strings.Contains(got, "may not") && !strings.Contains(got, "start") {
		t.Errorf("the entry does not say why: %q", got)
	}
	w.stop("entry that has failed")
	put(204, "everyone")
	path := filepath.Join(t.TempDir(), "flow28.csv")
	if err := os.WriteFile(path, []byte("c,d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.visit("/documents/core")
	w.expect("412") // which is how the page learns that there is one
	w.choose("#up", path)
	w.until(`[...document.querySelectorAll("#uploads button")].some(b => b.textContent === "Replace")`)
	eval[bool](w, `[...document.querySelectorAll("#uploads button")].find(b => b.textContent === "Replace").click(); true`)
	w.until(`document.querySelector("#uploads .st.good")`)
	s.pass(t, time.Hour)
	w.visit("/schedule")
	if got := w.text("#entry-" + id + " .wtext"); got != "" {
		t.Errorf("mended, the row says %q", got)
	}
	w.visit("/cases?route=intake28")
	if got := s.must(t, "ann", 200, "GET", "/dav/Workflow/Cases/"+strings.TrimPrefix(eval[string](w, `document.querySelector("#list tr[id]").id`), "c")+"/Labels/InputMessage", "").body; got != "c,d\n" {
		t.Errorf("after the upload the case began with %q", got)
	}
}

// flowCutUpload: an upload whose connection is lost says what became of it, and goes on
// when it is asked to.
func flowCutUpload(t *testing.T, s *stage) {
	path := filepath.Join(t.TempDir(), "film.bin")
	const size = 300_000_000
	film, err := os.Create(path)
	if err == nil {
		err = errors.Join(film.Truncate(size), film.Close()) // it takes no room, and is sent as zeros
	}
	if err != nil {
		t.Fatal(err)
	}
	w := s.bob
	w.visit("/documents/core")
	w.hurry()
	w.expect("net::ERR")
	s.front.after.Store(size / 2)
	w.choose("#up", path)
	w.until(`[...document.querySelectorAll("#uploads button")].some(b => b.textContent === "Try again")`)
	if got := w.text("#uploads"); !strings.Contains(got, "then the connection was lost. Nothing is stored of it.") {
		t.Errorf("cut, the page says %q", got)
	}
	w.stop("cut")
	s.must(t, "ann", 404, "GET", "/dav/Documents/core/film.bin", "")
	s.front.after.Store(0)
	eval[bool](w, `[...document.querySelectorAll("#uploads button")].find(b => b.textContent === "Try again").click(); true`)
	w.until(`document.querySelector("#uploads .st.good")`)
	w.expect("")
	if got := s.must(t, "ann", 200, "HEAD", "/dav/Documents/core/film.bin", "").header.Get("Content-Length"); got != strconv.Itoa(size) {
		t.Errorf("stored are %s bytes", got)
	}
}
