//go:build browser

package web

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// window is a window of a real browser. What its console says that is an error, and what
// the policy of the pages forbids, fails the test.
type window struct {
	t    *testing.T
	ctx  context.Context //nolint:containedctx // chromedp keeps its window in it
	axe  string
	base string // address of the server

	mu       sync.Mutex
	expected string // part of what the console may complain about
}

// chromium is one browser for all tests: to start one takes longer than most flows.
var chromium struct {
	sync.Mutex
	ctx  context.Context //nolint:containedctx // chromedp keeps its browser in it
	stop []context.CancelFunc
}

// theBrowser returns the browser, which runs until the tests have ended.
func theBrowser(t *testing.T) context.Context {
	t.Helper()
	chromium.Lock()
	defer chromium.Unlock()
	if chromium.ctx == nil {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.WindowSize(1440, 1000))
		allocated, free := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
		ctx, closed := chromedp.NewContext(allocated)
		chromium.stop = []context.CancelFunc{closed, free}
		if err := chromedp.Do(ctx); err != nil { // without a time limit: the first one would end the browser
			t.Fatal(err)
		}
		chromium.ctx = ctx
	}
	return chromium.ctx
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range chromium.stop {
		stop()
	}
	os.Exit(code)
}

// open opens a window of so many pixels. Nobody is logged in.
func (g *rig) open(t *testing.T, width int64) *window {
	t.Helper()
	axe, err := os.ReadFile(os.Getenv("FLOWDRIVE_AXE"))
	if err != nil {
		t.Fatalf("FLOWDRIVE_AXE does not name axe.min.js; make browser does: %v", err)
	}
	ctx, closed := chromedp.NewContext(theBrowser(t), chromedp.WithNewBrowserContext())
	t.Cleanup(closed)
	w := &window{t: t, ctx: ctx, base: g.http.URL, axe: string(axe)}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, w.hear); err != nil {
		t.Fatal(err)
	}
	return w
}

// hear looks at an event of the browser.
func (w *window) hear(event any) {
	kind := fmt.Sprintf("%T", event)
	text, err := json.Marshal(event)
	if err != nil || !strings.Contains(kind, "ExceptionThrown") && !(strings.Contains(kind, "EntryAdded") && strings.Contains(string(text), `"level":"error"`)) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.expected == "" || !strings.Contains(string(text), w.expected) {
		w.t.Errorf("the console says: %s", text)
	}
}

// on makes another test the one that fails, and returns the one before.
func (w *window) on(t *testing.T) *testing.T {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.t
	w.t = t
	return before
}

// expect lets the console complain about this.
func (w *window) expect(part string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expected = part
}

// patience is how long a test waits for the browser, which is slow on a machine that does
// much else.
const patience = 2 * time.Minute

// eval returns the value of an expression in the page, which may be a promise.
func eval[V any](w *window, expression string) V {
	w.t.Helper()
	ctx, late := context.WithTimeout(w.ctx, patience)
	defer late()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[V](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// visit opens a page.
func (w *window) visit(path string) {
	w.t.Helper()
	ctx, late := context.WithTimeout(w.ctx, patience)
	defer late()
	if err := chromedp.Do(ctx, chromedp.Navigate(w.base+path)); err != nil {
		w.t.Fatal(err)
	}
}

// then does something that leads to another page, and waits for it.
func (w *window) then(do string) {
	w.t.Helper()
	eval[bool](w, "window.before = true; "+do+"; true")
	w.until("!window.before && document.readyState === 'complete'")
}

// logIn fills in the form that is shown.
func (w *window) logIn(user, password string) {
	w.t.Helper()
	w.then(fmt.Sprintf(`document.querySelector("#u").value = %q; document.querySelector("#p").value = %q; document.querySelector("form").requestSubmit()`, user, password))
}

// text returns the text of the first element.
func (w *window) text(selector string) string {
	w.t.Helper()
	return eval[string](w, fmt.Sprintf(`(document.querySelector(%q) || {textContent: ""}).textContent.trim().replace(/\s+/g, " ")`, selector))
}

// until waits until an expression of the page is true.
func (w *window) until(expression string) {
	w.t.Helper()
	limit, tick := time.NewTimer(patience), time.NewTicker(50*time.Millisecond)
	defer limit.Stop()
	defer tick.Stop()
	for {
		ctx, late := context.WithTimeout(w.ctx, patience)
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		late()
		if err == nil && is { // else the page may be on its way
			return
		}
		select {
		case <-tick.C:
		case <-limit.C:
			w.t.Fatalf("still not: %s: %v", expression, err)
		}
	}
}

// stop looks at the page by the rules of WCAG A and AA.
func (w *window) stop(where string) {
	w.t.Helper()
	eval[bool](w, w.axe+"; true")
	found := eval[string](w, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(r => JSON.stringify(r.violations.map(v => [v.id, v.help, v.nodes.slice(0, 3).map(n => n.html).join(" ")])))`)
	var violations [][3]string
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		w.t.Fatal(err)
	}
	for _, v := range violations {
		w.t.Errorf("%s: %s: %s: %s", where, v[0], v[1], v[2])
	}
}

// TestBrowserLogIn: what was asked for is there after the log-in; wrong ones say the same,
// and then how long to wait.
func TestBrowserLogIn(t *testing.T) {
	for _, width := range []int64{1440, 390} {
		g := browserRig(t)
		g.furnish(t)
		w := g.open(t, width)
		w.expect("status of 4") // the answers to wrong log-ins
		w.visit("/cases/17")
		w.stop("log-in")
		w.logIn("ann", "wrong")
		said := w.text("#refused")
		w.logIn("nobody", "wrong")
		if again := w.text("#refused"); again != said || said == "" {
			t.Errorf("a wrong log-in says %q, that of nobody %q", said, again)
		}
		w.stop("wrong log-in")
		for range 5 {
			w.logIn("bob", "wrong")
		}
		if said := w.text("#refused"); !strings.Contains(said, "Wait") || !strings.ContainsAny(said, "123456789") {
			t.Errorf("after six wrong log-ins the page says %q", said)
		}
		w.visit("/cases/17")
		w.logIn("ann", password)
		if got := w.text("h1"); got != "Two monitors for the lab" {
			t.Errorf("after the log-in the page is %q", got)
		}
		w.stop("case")
	}
}

// TestBrowserPerform: Esc keeps the text, Ctrl+Enter performs, and the log has it.
func TestBrowserPerform(t *testing.T) {
	for _, width := range []int64{1440, 390} {
		g := browserRig(t)
		g.furnish(t)
		w := g.open(t, width)
		w.visit("/tasks")
		w.logIn("ann", password)
		w.stop("tasks")
		open := `document.querySelector("#t18 .acts a.b").click()`
		key := `document.querySelector("#t18-comment").dispatchEvent(new KeyboardEvent("keydown", {key: %q, ctrlKey: %t, bubbles: true}))`
		w.then(open)
		w.stop("open task")
		eval[bool](w, `document.querySelector("#t18-comment").value = "it was the <b>cable</b>"; document.querySelector("#t18-comment").dispatchEvent(new Event("input", {bubbles: true}))`)
		w.then(fmt.Sprintf(key, "Escape", false))
		if log := g.must(t, "sam", 200, "GET", "/dav/Workflow/Cases/18/log.txt", "").body; strings.Contains(log, "cable") {
			t.Errorf("Esc has performed:\n%s", log)
		}
		w.then(open)
		w.until(`document.querySelector("#t18-comment").value === "it was the <b>cable</b>"`)
		w.then(fmt.Sprintf(key, "Enter", true))
		w.until(`document.querySelector("#notice") !== null`)
		if said := w.text("#notice"); !strings.Contains(said, "Resolved. Now: Resolved.") {
			t.Errorf("the notice says %q", said)
		}
		if got := w.text("#t18.gone"); !strings.Contains(got, "resolved by you") {
			t.Errorf("of the row there is %q", got)
		}
		w.stop("after performing")
		w.visit("/tasks")
		if got := w.text("#t18"); got != "" {
			t.Errorf("on the next visit there is still %q", got)
		}
		if log := g.must(t, "sam", 200, "GET", "/dav/Workflow/Cases/18/log.txt", "").body; !strings.Contains(log, "it was the <b>cable</b>") {
			t.Errorf("the log has no comment:\n%s", log)
		}
	}
}

// TestBrowserLive: what others do shows by itself: a row that is gone stays, dimmed, a new
// one is counted, and the log of a case grows.
func TestBrowserLive(t *testing.T) {
	g := browserRig(t)
	g.furnish(t)
	w := g.open(t, 1440)
	w.visit("/tasks")
	w.logIn("ann", password)
	w.until(`document.querySelector("#live").hidden === false`)
	g.must(t, "bob", 204, "PUT", "/dav/Workflow/Cases/18/Actions/resolve.json", `{}`)
	w.until(`document.querySelector("#t18.gone") && document.querySelector("#t18.gone").textContent.includes("Bob Marsh resolved")`)
	g.must(t, "sam", 201, "PUT", "/dav/Workflow/Cases/new.json", `{"route": "bug", "title": "Another"}`)
	w.until(`(document.querySelector(".newbar") || {textContent: ""}).textContent.startsWith("1 new")`)
	w.stop("tasks after changes")
	w.visit("/cases/17")
	w.until(`document.querySelector("#live").hidden === false`)
	g.must(t, "cy", 204, "PUT", "/dav/Workflow/Cases/17/Actions/approve.json", `{"comment": "Needed."}`)
	w.until(`document.querySelector("#log").textContent.includes("Needed.")`)
	w.until(`document.querySelector("#todo").textContent.includes("Approve again")`)
	w.stop("case after a change")
}
