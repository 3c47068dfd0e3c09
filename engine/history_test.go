package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

const daily = `{"type": "interval", "days": 1, "route": "auto"}`

func everyDays(days string) string {
	return `{"type": "interval", "days": ` + days + `, "route": "auto"}`
}

// past returns what is in the history of a folder: names with sources.
func (u user) past(folder store.Folder) []string {
	u.Helper()
	var out []string
	for _, r := range try(u.History.History(u.Context(), u.by(), folder)).must(u.world, "history") {
		full := try(u.History.Past(u.Context(), u.by(), folder, r.Seq)).must(u.world, "past document")
		if full.Name != r.Name || r.Source != nil || r.SourceSize != int64(len(full.Source)) {
			u.Errorf("listed as %s with %d bytes, read as %s with %d", r.Name, r.SourceSize, full.Name, len(full.Source))
		}
		out = append(out, r.Name+" "+string(full.Source))
	}
	slices.Sort(out)
	return out
}

// TestHistory: every source that is overwritten or deleted stays recoverable
// for its author and administrators.
func TestHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutEntry("a.json", everyDays("1"))
	sam.mustPutEntry("a.json", everyDays("1"))
	same(t, "the same again", sam.past(store.FolderSchedule), []string(nil))
	sam.mustPutEntry("a.json", everyDays("2"))
	sam.mustPutEntry("A.json", everyDays("3"))
	w.clock.Set(instant("2012-11-09T13:00:00Z"))
	w.kind("DELETE", sam.deleteEntry("a.json"), "")
	same(t, "of the author", sam.past(store.FolderSchedule), []string{
		"20121109T123456Z a.json " + everyDays("1"), "20121109T123457Z a.json " + everyDays("2"), "20121109T130000Z a.json " + everyDays("3"),
	})
	same(t, "of an administrator", w.as("admin").past(store.FolderSchedule)[0], "20121109T123456Z a@sam.json "+everyDays("1"))
	same(t, "of others", w.as("ann").past(store.FolderSchedule), []string(nil))
	_, err := w.History.Past(t.Context(), w.as("ann").by(), store.FolderSchedule, 1)
	w.kind("by others", err, errs.NotFound)
	_, err = w.History.Past(t.Context(), sam.by(), store.FolderCases, 1)
	w.kind("in another folder", err, errs.NotFound)
	same(t, "its bytes count", sam.used(), int64(3*len(daily)))

	// A refused one keeps nothing, and an entry without source its form.
	_, err = sam.putEntry("b.json", `{"type": 1}`)
	w.kind("refused", err, errs.Invalid)
	out := sam.mustPutEntry("", daily)
	w.kind("DELETE of one without name", sam.deleteEntry(out.Name+".json"), "")
	same(t, "by its identity", slices.ContainsFunc(sam.past(store.FolderSchedule), func(past string) bool {
		return strings.HasPrefix(past, "20121109T130000Z "+out.Name+".json {\n  \"UUID\"")
	}), true)

	// Cases: a source that was saved again, and that of one that is canceled.
	try(sam.putCase("c.json", `{"route": "ask", "title": "a"}`)).must(w, "PUT of a case")
	try(sam.putCase("c.json", `{"route": "ask", "title": "b"}`)).must(w, "PUT of a case")
	w.kind("DELETE of the case", w.Archive.DeleteCase(t.Context(), sam.request(nil), sam.ref("c.json")), "")
	same(t, "cases", sam.past(store.FolderCases), []string{
		`20121109T130000Z c.json {"route": "ask", "title": "a"}`, `20121109T130001Z c.json {"route": "ask", "title": "b"}`,
	})

	// Routes in the language that they were in.
	admin := w.as("admin")
	before := try(w.Routes.Route(t.Context(), admin.by(), "ask")).must(w, "route")
	admin.mustPutRoute("ask", routeAsk+"\n")
	past := admin.past(store.FolderRoutes)
	same(t, "routes", past, []string{"20121109T130000Z ask" + extension(before) + " " + string(before.Source)})

	w.clock.Set(instant("2012-12-09T12:34:57Z"))
	same(t, "after thirty days", len(sam.past(store.FolderSchedule)), 2)
}

func extension(r *engine.Resource) string {
	if r.YAML {
		return ".yaml"
	}
	return ".json"
}

// TestRevival: what was deleted a moment ago goes on where a PUT of its name
// comes, with its identity and counters.
func TestRevival(t *testing.T) {
	t.Parallel()
	var now time.Time
	w := newWorld(t, func(w *world) {
		w.config = func(c *engine.Config) { c.Wall = func() time.Time { return now } }
	})
	now = instant("2026-11-20T12:00:00Z")
	sam := w.as("sam")
	first := sam.mustPutEntry("a.json", everyDays("1"))
	w.advance(25 * time.Hour)
	fired := w.form(first.Form)
	stored := func() form {
		return w.form(try(w.Schedules.Entry(t.Context(), sam.by(), sam.ref("a.json"))).must(w, "entry").Form)
	}
	counted := stored().get("iterationsPerformed")
	if counted == "0" || counted == fired.get("iterationsPerformed") {
		t.Fatalf("the entry counts %s", counted)
	}
	w.kind("DELETE", sam.deleteEntry("a.json"), "")
	again := sam.mustPutEntry("a.json", everyDays("2"))
	same(t, "created", again.Created, true)
	same(t, "its identity", again.Name, first.Name)
	same(t, "its counter", stored().get("iterationsPerformed"), counted)

	w.kind("DELETE", sam.deleteEntry("a.json"), "")
	_, err := sam.putEntry("a.json", `{"type": 1}`)
	w.kind("a refused PUT", err, errs.Invalid)
	now = now.Add(time.Minute)
	same(t, "after a minute", sam.mustPutEntry("a.json", daily).Name, first.Name)
	w.kind("DELETE", sam.deleteEntry("a.json"), "")
	now = now.Add(time.Minute + time.Second)
	later := sam.mustPutEntry("a.json", daily)
	same(t, "after more than a minute", later.Name == first.Name, false)

	w.kind("DELETE", sam.deleteEntry("a.json"), "")
	same(t, "by somebody else", w.as("ann").mustPutEntry("a.json", daily).Name == later.Name, false)
	same(t, "under another name", sam.mustPutEntry("b.json", daily).Name == later.Name, false)
	w.reopen()
	same(t, "after a restart", sam.mustPutEntry("a.json", daily).Name, later.Name)

	// Routes: id and versions.
	ann := w.as("ann")
	route := w.form(ann.mustPutRoute("spare", routeAsk).Form)
	w.kind("DELETE of the route", w.Routes.DeleteRoute(t.Context(), ann.request(nil), "spare", false), "")
	back := w.form(ann.mustPutRoute("spare", routeAsk).Form)
	back.wants("id", route.get("id"), "version", "2")
	w.kind("DELETE of the route", w.Routes.DeleteRoute(t.Context(), ann.request(nil), "spare", false), "")
	now = now.Add(2 * time.Minute)
	same(t, "after more than a minute", w.form(ann.mustPutRoute("spare", routeAsk).Form).get("version"), "1")

	// A case that was deleted is canceled and stays so.
	id := sam.startCase(`{"route": "ask"}`)
	try(sam.putCase("c.json", `{"route": "ask"}`)).must(w, "PUT of a case")
	w.kind("DELETE of the case", w.Archive.DeleteCase(t.Context(), sam.request(nil), sam.ref("c.json")), "")
	out := try(sam.putCase("c.json", `{"route": "ask"}`)).must(w, "PUT of a case")
	same(t, "another case", out.CaseID > id+1, true)
}
