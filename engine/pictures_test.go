package engine_test

import (
	"strings"
	"testing"

	"flowdrive/internal/errs"
	"flowdrive/route/diagram"
)

const routeDrawn = `
access: {start: [everyone]}
states: {a: {title: Asked, type: start}, b: {title: Granted}, c: {title: Done, type: complete}}
roles: {r: {assign: [starter]}}
actions:
  ask: {trigger: init}
  grant: {title: Grant, in: [a], role: r, decide: '"yes"', outputs: {"yes": b, "no": c}}
  end: {title: End, in: [b], role: r, to: c}
`

// The picture of a case shows where it is, the way that it took and where it can go;
// that of its route shows none of it.
func TestPictureOfACase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("ann")
	ann.mustPutRoute("drawn", routeDrawn)
	id := ann.startCase(`{"route": "drawn"}`)
	marks := func(want string) string {
		t.Helper()
		d := try(w.Pictures.OfCase(t.Context(), ann.by(), id, nil)).must(w, "the picture")
		if d.Marks.Text != want {
			t.Errorf("it says %q, want %q", d.Marks.Text, want)
		}
		return string(d.Picture.SVG(diagram.Options{Marks: d.Marks}))
	}
	svg := marks("The case is in Asked. It went: ask to Asked. From here: Grant leads to Granted (yes) or Done (no).")
	same(t, "arrows taken", strings.Count(svg, `edge went"><path`), 1)
	same(t, "arrows that can be taken", strings.Count(svg, `edge can"><path`), 3)
	ann.mustPerform(id, "grant")
	svg = marks("The case is in Granted. It went: ask to Asked, Grant to Granted. From here: End leads to Done.")
	same(t, "arrows taken", strings.Count(svg, `edge went"><path`), 3)
	ann.mustPerform(id, "end")
	svg = marks("The case has ended in Done. It went: ask to Asked, Grant to Granted, End to Done.")
	same(t, "the end", strings.Count(svg, `"node complete reached"`), 1)
	table := try(w.Pictures.OfCase(t.Context(), ann.by(), id, nil)).must(w, "the table")
	if text := string(table.Picture.Text(table.Marks)); !strings.Contains(text, "Asked     Grant    r              Granted (yes), Done (no)   1") {
		t.Errorf("the table:\n%s", text)
	}

	of := try(w.Pictures.OfRoute(t.Context(), ann.by(), "drawn", 0)).must(w, "the route")
	if of.Marks != nil {
		t.Error("the picture of a route has marks")
	}
	w.refused(try(w.Pictures.OfCase(t.Context(), w.as("bob").by(), id, nil)).err, errs.NotFound)
	w.refused(try(w.Pictures.OfRoute(t.Context(), ann.by(), "drawn", 2)).err, errs.NotFound)
	w.refused(try(w.Pictures.OfRoute(t.Context(), ann.by(), "none", 0)).err, errs.NotFound)
}

// In the dependency model the actions are marked.
func TestPictureOfActions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("ann")
	ann.mustPutRoute("steps", `
model: dependency
access: {start: [everyone]}
roles: {r: {assign: [starter]}}
actions:
  one: {role: r}
  two: {role: r, after: [one]}
  three: {role: r, after: [two], final: true}
`)
	id := ann.startCase(`{"route": "steps"}`)
	ann.mustPerform(id, "one")
	d := try(w.Pictures.OfCase(t.Context(), ann.by(), id, nil)).must(w, "the picture")
	same(t, "in words", d.Marks.Text, "Performed: one. Possible: two.")
	svg := string(d.Picture.SVG(diagram.Options{Marks: d.Marks}))
	for class, want := range map[string]int{`"node task been"`: 1, `"node task"`: 1, `"node final dim"`: 1, `edge can"><path`: 1} {
		same(t, class, strings.Count(svg, class), want)
	}
}
