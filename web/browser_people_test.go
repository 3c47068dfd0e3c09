//go:build browser

package web

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// flowDeputy: a deputy who is named today is shown the tasks of the other and does them;
// the log names both.
func flowDeputy(t *testing.T, s *stage) {
	id := s.start(t, "bob", `{"route": "expense", "title": "Flow ten", "xattrDict": {"amount": 90, "manager": "cy"}}`)
	s.ann.visit("/tasks?q=ten")
	if got := s.ann.text("#t" + id); got != "" {
		t.Errorf("before there is a deputy, ann has %q", got)
	}
	s.cy.visit("/account")
	s.cy.input("#deputy-user", "ann")
	s.cy.input("#deputy-to", s.clock.Now().AddDate(0, 0, 7).Format(time.DateOnly))
	s.cy.send("#deputy-user")
	s.cy.stop("a deputy")
	defer s.must(t, "cy", 204, "PUT", "/dav/Account/me.json", `{"deputy": null}`)
	s.ann.visit("/tasks?q=ten&open=" + id + ".approve")
	if got := s.ann.text("#t" + id); !strings.Contains(got, "for Cy Tanaka, whose deputy you are") {
		t.Errorf("the row says %q", got)
	}
	s.ann.stop("a task of somebody else")
	s.ann.send("textarea[name=comment]")
	s.ann.visit("/cases/" + id)
	if got := s.ann.text("#log"); !strings.Contains(got, "Ann Lindqvist for Cy Tanaka") {
		t.Errorf("the log says %q", got)
	}
}

// flowSeveral: of twenty cases that are chosen together those are done that can be, and
// each is named.
func flowSeveral(t *testing.T, s *stage) {
	ids := make([]string, 20)
	for i := range ids {
		ids[i] = s.start(t, "sam", fmt.Sprintf(`{"route": "bug", "title": "Flow eleven, %d"}`, i+1))
	}
	w := s.ann
	w.visit("/tasks?q=eleven")
	if got := eval[int](w, `(all => { for (const c of all) c.click(); return all.length; })([...document.querySelectorAll("#list input[name=select]")])`); got != len(ids) {
		t.Fatalf("there are %d boxes", got)
	}
	w.stop("twenty are chosen")
	s.must(t, "bob", 204, "PUT", "/dav/Workflow/Cases/"+ids[7]+"/Actions/resolve.json", `{"do": "accept"}`)
	w.then(`document.querySelector('#bulk button[value="bug/resolve"]').click()`)
	said := w.text("#notice")
	if !strings.Contains(said, "19 of 20 resolved.") || !strings.Contains(said, ids[7]+" Flow eleven, 8 not:") {
		t.Errorf("the notice says %q", said)
	}
	for _, id := range ids {
		if !strings.Contains(said, id) {
			t.Errorf("the notice does not name %s: %q", id, said)
		}
	}
	w.stop("nineteen are done")
}

// flowManyTasks: the pages of a list have each case once, in its order, and say how long
// the server took; what is filtered and searched is a part of the same list.
func flowManyTasks(t *testing.T, s *stage) {
	const n = 60
	var want []string
	for i := range n {
		want = append(want, "t"+s.start(t, "sam", fmt.Sprintf(`{"route": "bug", "title": "Flow thirty-nine, %d"}`, i+1)))
	}
	slices.Reverse(want)
	w := s.bob
	rows := func() []string {
		t.Helper()
		if got := eval[string](w, `performance.getEntriesByType("navigation")[0].serverTiming.map(e => e.name + (e.duration > 0)).join()`); got != "totaltrue" {
			t.Errorf("the browser was told of the server's time: %q", got)
		}
		return strings.Fields(eval[string](w, `[...document.querySelectorAll("#list li.task")].map(r => r.id).join(" ")`))
	}
	w.visit("/tasks?q=thirty-nine&sort=newest")
	got := rows()
	if len(got) != pageRows {
		t.Errorf("the first page has %d rows", len(got))
	}
	w.stop("a full list")
	w.then(`document.querySelector("#list a[rel=next]").click()`)
	if got = append(got, rows()...); !slices.Equal(got, want) {
		t.Errorf("the pages have %v, want %v", got, want)
	}
	w.visit("/tasks?q=thirty-nine, 7&sort=newest&route=bug")
	if got := rows(); !slices.Equal(got, []string{want[n-7]}) {
		t.Errorf("searched, there is %v, want %s", got, want[n-7])
	}
	w.visit("/tasks?q=thirty-nine&route=expense")
	if got := rows(); len(got) != 0 {
		t.Errorf("of another route there is %v", got)
	}
}

// flowVote: while three people vote, the page of the proposal counts, and goes to its end.
func flowVote(t *testing.T, s *stage) {
	id := s.start(t, "sam", `{"route": "tip", "title": "Flow thirteen"}`)
	sam := s.open(t, 1440)
	sam.as("sam")
	sam.visit("/cases/" + id)
	sam.live()
	sam.until(`document.querySelector("#children").textContent.includes("0 of 3")`)
	for i, w := range []*window{s.ann, s.bob, s.cy} {
		w.visit("/tasks?route=tip-vote&sort=newest")
		row := eval[string](w, `document.querySelector("#list li.task").id`)
		w.visit("/tasks?route=tip-vote&sort=newest&open=" + strings.TrimPrefix(row, "t") + ".approve")
		w.send("textarea[name=comment]")
		if i < 2 {
			sam.until(fmt.Sprintf(`document.querySelector("#children").textContent.includes("%d of 3")`, i+1))
			sam.until(fmt.Sprintf(`document.querySelector("#children .tally p").textContent.includes("%d Approved")`, i+1))
		}
	}
	sam.until(`document.querySelector("#where-h").textContent === "Approved"`)
	sam.stop("voted")
}

// flowFourEyes: who has approved a claim is not asked to approve it again, and is told why
// not if they try.
func flowFourEyes(t *testing.T, s *stage) {
	id := s.start(t, "bob", `{"route": "expense", "title": "Flow fourteen", "xattrDict": {"amount": 1240}}`)
	w := s.ann
	w.visit("/tasks?q=fourteen&open=" + id + ".approve")
	w.send("textarea[name=comment]")
	if got := w.text("#notice"); !strings.Contains(got, "Now: Approved once.") {
		t.Errorf("approved, the notice says %q", got)
	}
	w.visit("/cases/" + id + "?open=refuse")
	if eval[bool](w, `document.querySelector("#todo [name=action][value=approve-again]") !== null`) {
		t.Error("the second approval is offered to who gave the first")
	}
	eval[bool](w, `(f => {
		for (const e of [...f.querySelectorAll("[name=action], [name=resolution]")]) e.remove();
		const action = document.createElement("input");
		action.type = "hidden"; action.name = "action"; action.value = "approve-again";
		f.append(action);
		return true; })(document.querySelector("#c-comment").form)`)
	w.expect("403")
	w.send("#c-comment")
	if got := w.text("main"); !strings.Contains(got, "must be performed by someone other than ann, who performed") {
		t.Errorf("a second approval by the same: %q", got)
	}
	w.stop("four eyes")
	w.expect("")
	s.cy.visit("/cases/" + id + "?open=approve-again")
	s.cy.send("#c-comment")
	if got := s.cy.text("#where-h"); got != "Paid" {
		t.Errorf("approved by another, it is %q", got)
	}
}

// flowTimer: the date of a timer is taken away and set again; what is not a date is told at
// the field, with what is one.
func flowTimer(t *testing.T, s *stage) {
	id := s.start(t, "bob", `{"route": "expense", "title": "Flow fifteen", "xattrDict": {"amount": 1240}}`)
	w := s.cy
	set := func(limit string) (bars int) {
		t.Helper()
		w.visit("/cases/" + id + "?do=timer&timer=approve.due#ask")
		w.input("#a-limit", limit)
		w.send("#a-limit")
		return eval[int](w, `document.querySelectorAll("#timers svg.bar").length`)
	}
	w.visit("/cases/" + id)
	before := eval[int](w, `document.querySelectorAll("#timers svg.bar").length`)
	if got := set(""); got != before-1 {
		t.Errorf("without a date there are %d bars, before %d", got, before)
	}
	w.stop("a timer without a date")
	if got := set("P3D"); got != before {
		t.Errorf("with a date there are %d bars, before %d", got, before)
	}
	w.expect("422")
	set("next friday")
	if fault, hint := w.text("#a-fault"), w.text("#a-hint"); fault == "" || !strings.Contains(fault+hint, "P3D") {
		t.Errorf("of what is not a date the field says %q, and %q", fault, hint)
	}
	if got := eval[string](w, `document.querySelector("#a-limit").value`); got != "next friday" {
		t.Errorf("of what was typed there is %q", got)
	}
	w.stop("no date")
	w.expect("")
}

// tabTo goes to an element by the Tab key.
func (w *window) tabTo(selector string) {
	w.t.Helper()
	for range 120 {
		w.press(kb.Tab)
		if eval[bool](w, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			return
		}
	}
	w.t.Fatalf("Tab does not lead to %s", selector)
}

// flowKeysOnBoard: a card is moved, and an entry is made, by keys alone.
func flowKeysOnBoard(t *testing.T, s *stage) {
	id := s.start(t, "sam", `{"route": "bug", "title": "Flow thirty-five, a card"}`)
	w := s.cy
	w.visit("/routes/bug/board?q=thirty-five, a card")
	w.tabTo("#c" + id)
	w.seesFocus("a card")
	w.press(" ")
	w.until(`document.querySelector("#say").textContent.startsWith("Lifted. It can go to Resolved")`)
	w.press(kb.ArrowRight)
	w.until(`document.querySelector('[data-state="resolved"].over')`)
	w.press(kb.Escape)
	w.until(`document.querySelector("#say").textContent === "Put back."`)
	w.seesFocus("the card that was put back")
	w.press(" ")
	w.press(kb.ArrowRight)
	w.press(" ")
	w.until(`document.querySelector('[data-state="resolved"] #c` + id + `')`)

	w.visit("/schedule/new")
	for _, field := range [][2]string{{"title", "Flow thirty-five, an entry"}, {"route", "bug"}, {"day", "last sun"}, {"hour", "2"}, {"minute", "30"}, {"timezone", "Europe/Stockholm"}} {
		w.tabTo("#f-" + field[0])
		w.seesFocus(field[0])
		eval[bool](w, `(document.activeElement.select && document.activeElement.select(), true)`)
		w.press(field[1])
	}
	w.until(`document.querySelector("#preview").textContent.includes("clocks go forward: there is no 02:30")`)
	w.tabTo("#entry-form button.main-act")
	w.seesFocus("the button")
	w.press(kb.Enter)
	w.until(`document.querySelector("h1").textContent.trim() === "Flow thirty-five, an entry" && document.readyState === "complete"`)
}

// seesFocus wants the focus to be seen.
func (w *window) seesFocus(where string) {
	w.t.Helper()
	if got := eval[string](w, `(e => e === document.body ? "nothing" : getComputedStyle(e).outlineStyle === "none" && getComputedStyle(e).boxShadow === "none" && getComputedStyle(e.parentElement).boxShadow === "none" && !e.matches("#refused, h2") ? e.outerHTML.slice(0, 200) : "")(document.activeElement)`); got != "" {
		w.t.Errorf("%s: the focus is not seen, on %s", where, got)
	}
}

// flowMoreWithoutScript: the editor says what is wrong and where, a card is moved by its
// menu, and the next instants of an entry are shown, without script.
func flowMoreWithoutScript(t *testing.T, s *stage) {
	s.must(t, "ann", 201, "PUT", "/dav/Workflow/Routes/plain34.yaml", teaRoute)
	card := s.start(t, "sam", `{"route": "bug", "title": "Flow thirty-four, a card"}`)
	w := s.withoutScript(t, 1440)
	w.visit("/login")
	w.fill("#u", "ann")
	w.fill("#p", password)
	w.plain("#u", "button.main-act")

	w.visit("/routes/plain34/edit") // 22: a state that is mistyped
	w.fill("#f-source", strings.Replace(teaRoute, "in: [wanted]", "in: [wamted]", 1))
	w.expect("422")
	w.plain("#f-source", "button.main-act")
	line := strings.Count(teaRoute[:strings.Index(teaRoute, "in: [wanted]")], "\n") + 1
	if got := w.text("#check a[data-line]"); !strings.HasPrefix(got, strconv.Itoa(line)+":") {
		t.Errorf("the fault is at %q, not in line %d", got, line)
	}
	if got := w.text("#check"); !strings.Contains(got, "wamted") {
		t.Errorf("the faults are %q", got)
	}
	if got := eval[string](w, `document.querySelector("#f-source").value`); !strings.Contains(got, "wamted") {
		t.Errorf("of what was typed there is %q", got)
	}
	w.expect("")
	if got := s.must(t, "ann", 200, "GET", "/dav/Workflow/Routes/plain34.yaml", "").body; got != teaRoute {
		t.Errorf("a route with a fault is stored: %s", got)
	}

	w.visit("/routes/bug/board?q=thirty-four, a card") // 17: the menu of a card
	w.plainly(`document.querySelector("#c` + card + ` a.go").click()`)
	w.plain("select[name=way]", "button.main-act")
	if !eval[bool](w, `document.querySelector('[data-state="resolved"] #c`+card+`') !== null`) {
		t.Errorf("moved by its menu, the board says %q", w.text("main"))
	}

	w.visit("/schedule/new") // 25: the next ten
	for field, value := range map[string]string{"title": "Flow thirty-four, shown", "route": "bug", "day": "last sun", "hour": "2", "minute": "30", "timezone": "Europe/Stockholm"} {
		w.fill("#f-"+field, value)
	}
	w.plain("#f-title", "button[name=show]")
	if got := w.text("#preview"); !strings.Contains(got, "03:00") || !strings.Contains(got, "clocks go forward: there is no 02:30") {
		t.Errorf("the next ten are %q", got)
	}
	if got := eval[string](w, `document.querySelector("#f-title").value`); got != "Flow thirty-four, shown" {
		t.Errorf("shown, the title is %q", got)
	}
}

// flowHostileFields: a comment, an XATTR, a message and the name of a file that would be
// markup are text.
func flowHostileFields(t *testing.T, s *stage) {
	hostile := `<img src=x onerror=window.hit=1>`
	s.must(t, "ann", 201, "PUT", "/dav/Workflow/Routes/fields40.yaml", teaRoute)
	id := s.start(t, "ann", fmt.Sprintf(`{"route": "fields40", "title": "Flow forty", "xattrDict": {"note": %q}}`, hostile))
	w := s.ann
	path := filepath.Join(t.TempDir(), hostile)
	if err := os.WriteFile(path, []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	w.visit("/documents/core")
	w.choose("#up", path)
	w.until(`document.querySelector("#uploads .st.good")`)
	if got := w.text("#uploads"); !strings.Contains(got, hostile) {
		t.Errorf("of the file the page says %q", got)
	}
	w.visit("/cases/" + id + "?open=pour")
	w.input("#c-comment", hostile)
	w.send("#c-comment")
	if got := w.text("#log blockquote"); got != hostile {
		t.Errorf("the comment is %q", got)
	}
	for _, at := range []string{"/cases/" + id, "/documents/core", "/tasks/done", "/search?q=onerror"} {
		w.visit(at)
		if got := w.text("main"); !strings.Contains(got, hostile) {
			t.Errorf("%s does not show it: %q", at, got)
		}
		if eval[bool](w, `window.hit === 1 || document.querySelector("main img[src=x]") !== null`) {
			t.Errorf("%s: what somebody wrote is not text", at)
		}
	}
}

// TestBrowserManyTasks: of 10,000 tasks the first pages come in order, what is searched and
// filtered is a part of the same list, and over all pages each case is there once. How long
// that may take is measured by make bench.
func TestBrowserManyTasks(t *testing.T) {
	t.Run("flow 39 10,000 tasks", func(t *testing.T) {
		g := newRig(t)
		const n = 10_000
		g.must(t, "ann", 201, "PUT", "/dav/Workflow/Schedule/new.json", `{"type": "interval", "title": "Many", "route": "bug", "context": "core", "minutes": 1, "repeat": 10000}`)
		g.advance(t, g.clock.Now().Add((n+1)*time.Minute).Format(time.RFC3339))
		b, seen, pages := g.browse(t, "bob"), map[string]bool{}, 0
		row := regexp.MustCompile(`<li class="task[^>]* id="(t[0-9]+)"`)
		var first []string
		for at := "/tasks?sort=newest"; at != ""; pages++ {
			got := b.get(t, at)
			if at = ""; got.status != 200 {
				t.Fatalf("page %d: got %d", pages, got.status)
			}
			for _, m := range row.FindAllStringSubmatch(got.body, -1) {
				if seen[m[1]] {
					t.Fatalf("%s is there twice", m[1])
				}
				if seen[m[1]] = true; len(first) < 2*pageRows {
					first = append(first, m[1])
				}
			}
			if m := nextInList.FindStringSubmatch(got.body); m != nil {
				at = html.UnescapeString(m[1])
			}
		}
		if len(seen) != n || pages != n/pageRows {
			t.Fatalf("there are %d tasks on %d pages", len(seen), pages)
		}
		w := g.open(t, 1440)
		w.as("bob")
		rows := func() string {
			t.Helper()
			t.Logf("%s: %s", eval[string](w, "location.search"), eval[string](w, `performance.getEntriesByType("navigation")[0].serverTiming.map(e => e.name + " " + e.duration + " ms").join()`))
			return eval[string](w, `[...document.querySelectorAll("#list li.task")].map(r => r.id).join(" ")`)
		}
		w.visit("/tasks?sort=newest")
		got := rows()
		w.stop("10,000 tasks")
		w.then(`document.querySelector("#list a[rel=next]").click()`)
		if got += " " + rows(); got != strings.Join(first, " ") {
			t.Errorf("the browser has %s, want %s", got, strings.Join(first, " "))
		}
		w.visit("/tasks?sort=newest&route=bug")
		if got := rows(); got != strings.Join(first[:pageRows], " ") {
			t.Errorf("of the route there is %s", got)
		}
		w.visit("/tasks?sort=newest&q=" + strings.TrimPrefix(first[60], "t"))
		if got := rows(); !strings.Contains(" "+got+" ", " "+first[60]+" ") {
			t.Errorf("searched for %s, there is %s", first[60], got)
		}
	})
}
