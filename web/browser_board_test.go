//go:build browser

package web

import (
	"fmt"
	"strings"
	"testing"
)

// TestBrowserBoard: a card is moved by pointer and by keys, is put back by Escape, asks
// for what its action needs, and cannot be dropped where nothing leads.
func TestBrowserBoard(t *testing.T) {
	g := browserRig(t)
	g.furnish(t)
	w := g.open(t, 1440)
	w.visit("/routes/bug/board")
	w.logIn("ann", password)
	w.stop("board")
	drag := func(card, lane string) {
		eval[bool](w, fmt.Sprintf(`(() => {
			const card = document.querySelector(%q), lane = document.querySelector(%q), to = lane.getBoundingClientRect(), from = card.getBoundingClientRect();
			const send = (kind, on, x, y) => on.dispatchEvent(new PointerEvent(kind, {bubbles: true, cancelable: true, pointerId: 1, pointerType: "mouse", button: 0, clientX: x, clientY: y}));
			send("pointerdown", card, from.x + 20, from.y + 10);
			send("pointermove", card, from.x + 40, from.y + 20);
			send("pointermove", card, to.x + 30, to.y + 30);
			window.hinted = lane.querySelector(".hint").textContent;
			send("pointerup", lane, to.x + 30, to.y + 30);
			return true; })()`, card, lane))
	}
	key := func(key string) {
		eval[bool](w, fmt.Sprintf(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: %q, bubbles: true, cancelable: true})) || true`, key))
	}

	drag("#c18", `[data-state="closed"]`) // nothing leads there
	if got := eval[string](w, "window.hinted"); got != "" {
		t.Errorf("a column that nothing leads to says %q", got)
	}
	if got := w.text("#say"); got != "Put back." {
		t.Errorf("put back it says %q", got)
	}
	drag("#c18", `[data-state="resolved"]`)
	w.until(`document.querySelector('[data-state="resolved"] #c18')`)
	if got := w.text("main"); !strings.Contains(got, "is in Resolved now") {
		t.Errorf("nothing says that it was moved: %q", got)
	}
	w.stop("moved")

	w.expect("409")
	w.then(`(f => { f.elements.case.value = "19"; f.elements.from.value = "open"; f.elements.to.value = "closed"; f.requestSubmit(); })(document.querySelector("#move"))`)
	w.expect("")
	if got := w.text("main"); !strings.Contains(got, `No action of yours leads from "open" to "closed" now.`) || !eval[bool](w, `document.querySelector('[data-state="open"] #c19') !== null`) {
		t.Errorf("a move that is forced: %q", got)
	}
	w.stop("a move that is forced")

	w.visit("/routes/bug/board")
	eval[bool](w, `document.querySelector("#c19").focus(), true`)
	key(" ")
	w.stop("lifted")
	if got := w.text("#say"); !strings.HasPrefix(got, "Lifted. It can go to Resolved") {
		t.Errorf("lifted it says %q", got)
	}
	key("Escape")
	if eval[bool](w, `document.querySelector(".lift, .target") !== null`) || w.text("#say") != "Put back." {
		t.Errorf("after Escape it says %q", w.text("#say"))
	}
	key(" ")
	key("ArrowRight")
	key(" ")
	w.until(`document.querySelector('[data-state="resolved"] #c19')`)

	w.visit("/routes/expense/board?do=move&case=17")
	w.stop("asked")
	w.visit("/routes/expense/board")
	drag("#c17", `[data-state="refused"]`)
	w.until(`location.pathname === "/cases/17" && document.querySelector("[name=resolution]")`)
	eval[bool](w, `document.querySelector("[name=resolution][value=receipt]").click(), true`)
	w.send("#c-comment")
	w.visit("/routes/expense/board")
	if !eval[bool](w, `document.querySelector('[data-state="refused"] #c17') !== null`) {
		t.Errorf("refused with a resolution, the board is %q", w.text("#board"))
	}

	phone := g.open(t, 390)
	phone.visit("/routes/bug/board")
	phone.logIn("ann", password)
	phone.stop("board on a phone")
}
