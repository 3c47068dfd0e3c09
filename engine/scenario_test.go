package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// readingPlayer plays a story by reading it: it holds if its first route has the text
// that the member "wants" has.
type readingPlayer struct {
	mu     sync.Mutex
	plays  int
	routes string // of the last one
	meet   func() // called while a story is played
	failed error
}

func (*readingPlayer) Read(scenario []byte, yaml bool) (string, error) {
	node, err := document.Parse(scenario, yaml)
	if err != nil {
		return "", err
	}
	if node.Get("wants") == nil {
		return "", errs.InvalidDocument([]errs.Fault{{Pointer: "/wants", Detail: "is required", Code: errs.CodeRequired}})
	}
	return "T", nil
}

func (p *readingPlayer) Play(_ context.Context, _ identity.Name, s *engine.Story) (engine.Played, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plays++
	if p.meet != nil {
		p.meet()
	}
	p.routes = ""
	for _, r := range s.Routes {
		p.routes += r.Name + " "
	}
	node, err := document.Parse(s.Scenario, s.YAML)
	if err != nil {
		return engine.Played{}, err
	}
	wants := node.Get("wants").Text
	out := engine.Played{Steps: 2, Expectations: 1, Log: "log"}
	if !bytes.Contains(s.Routes[0].Source, []byte(wants)) {
		out.Step, out.Faults = 2, []errs.Fault{{Pointer: "/steps/1", Detail: "wants " + wants}}
	}
	return out, p.failed
}

// stage is a world with a player.
func stage(t *testing.T) (*world, *readingPlayer) {
	t.Helper()
	p := &readingPlayer{}
	return newWorld(t, func(w *world) { w.config = func(c *engine.Config) { c.Player = p } }), p
}

func (u user) putScenario(name, wants string) (*engine.Outcome, error) {
	return u.Scenarios.PutScenario(u.Context(), u.request(nil), name, true, []byte("wants: "+wants+"\n"))
}

func (u user) mustPutScenario(name, wants string) *engine.Outcome {
	u.Helper()
	return try(u.putScenario(name, wants)).must(u.world, "put the scenario of "+name)
}

// scenario returns the source of a scenario as the user sees it, or the kind of error.
func (u user) scenario(name string) string {
	r, err := u.Scenarios.Scenario(u.Context(), u.by(), name)
	if err != nil {
		return string(errs.KindOf(err))
	}
	return strings.TrimSpace(string(r.Source))
}

// TestScenarioRights: who may change a route may change its scenario, who sees it reads
// it, and to all others the name is as if there were no such route.
func TestScenarioRights(t *testing.T) {
	t.Parallel()
	w, _ := stage(t)
	sam, ann, bob := w.as("sam"), w.as("ann"), w.as("bob")
	ann.mustPutRoute("mine", "access: {read: [sam]}\n"+plainStates)
	if out, err := ann.putScenario("mine", "open"); err != nil || !out.Created || len(out.Warnings) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	same(t, "of the author", ann.scenario("MINE"), "wants: open")
	same(t, "of a reader", sam.scenario("mine"), "wants: open")
	same(t, "of a stranger", bob.scenario("mine"), "not-found")
	_, err := sam.putScenario("mine", "x")
	w.refused(err, errs.NotAllowed)
	w.refused(sam.Scenarios.DeleteScenario(t.Context(), sam.request(nil), "mine"), errs.NotAllowed)
	w.refused(bob.Scenarios.DeleteScenario(t.Context(), bob.request(nil), "mine"), errs.NotFound)

	// What a stranger stores is the stranger's own, as it is for a route that is not there.
	there, err1 := bob.putScenario("mine", "bob")
	absent, err2 := bob.putScenario("none", "bob")
	same(t, "of a route that is hidden", strings.ReplaceAll(fmt.Sprint(there.Created, there.Warnings, err1), "mine", "none"), fmt.Sprint(absent.Created, absent.Warnings, err2))
	same(t, "of the stranger", bob.scenario("mine"), "wants: bob")
	same(t, "of the author still", ann.scenario("mine"), "wants: open")
	listed := func(u user) string {
		all := try(w.Scenarios.Scenarios(t.Context(), u.by())).must(w, "the scenarios")
		return names(all, nil)
	}
	same(t, "listed", listed(ann)+"; "+listed(sam)+"; "+listed(bob), "mine; mine; mine none")
}

// TestScenarioWaits: a scenario that is stored before its route is played when its author
// stores that one, and is what is left of it to who deletes it.
func TestScenarioWaits(t *testing.T) {
	t.Parallel()
	w, p := stage(t)
	sam, ann := w.as("sam"), w.as("ann")
	sam.mustPutScenario("later", "Two")
	_, err := w.Routes.PutRoute(t.Context(), sam.request(nil), "later", true, []byte("title: One\n"+plainStates))
	w.refused(err, errs.ScenarioBroken, "/steps/1 ")
	same(t, "the route", errs.KindOf(try(w.Routes.Route(t.Context(), sam.by(), "later")).err), errs.NotFound)
	w.as("admin").mustPutParty(identity.Team, "late", `{"members": ["sam"]}`)
	if _, err := ann.putScenario("later", "Three"); err != nil {
		t.Fatal(err)
	}
	sam.mustPutRoute("later", "access: {admin: [ann]}\ntitle: Two\n"+plainStates)
	form := func() form {
		return w.form(try(w.Routes.Route(t.Context(), sam.by(), "later")).must(w, "the route").Form)
	}
	form().wants("scenario/result", `"holds"`, "scenario/version", "1", "scenario/steps", "2", "scenario/played", `"`+start+`"`,
		"scenario/href", `"/dav/Workflow/Routes/later.scenario.yaml"`)
	// What another has written for the name gives way when that one stores another.
	same(t, "of another", ann.scenario("later"), "wants: Two")
	if _, err := ann.putScenario("later", "states"); err != nil {
		t.Fatal(err)
	}
	past := try(w.History.History(t.Context(), ann.by(), store.FolderRoutes)).must(w, "the history")
	if len(past) != 1 || !strings.HasSuffix(past[0].Name, " later.scenario.yaml") {
		t.Errorf("what waited is kept as %s", names(past, nil))
	}
	plays := p.plays
	if err := w.Routes.DeleteRoute(t.Context(), sam.request(nil), "later", false); err != nil {
		t.Fatal(err)
	}
	same(t, "after the route", sam.scenario("later")+", "+ann.scenario("later"), "wants: states, not-found")
	sam.mustPutRoute("later", "title: Two\n"+plainStates)
	form().wants("scenario/version", "2", "scenario/steps", "2")
	same(t, "plays of the same story", p.plays-plays, 1)
}

// TestScenarioWaitsForTheNextVersion: a scenario that is kept for the next version of its route is
// stored with that, in one unit, if it holds; the one in force counts if it does not.
func TestScenarioWaitsForTheNextVersion(t *testing.T) {
	t.Parallel()
	w, _ := stage(t)
	sam, ann := w.as("sam"), w.as("ann")
	const head = "access: {read: [ann, bob], admin: [ann]}\n"
	put := func(u user, title string) (*engine.Outcome, error) {
		return w.Routes.PutRoute(t.Context(), u.request(nil), "mine", true, []byte(head+"title: "+title+"\n"+plainStates))
	}
	keep := func(u user, wants string, options ...option) (*engine.Outcome, error) {
		return w.Scenarios.KeepScenario(t.Context(), u.request(options), "mine", true, []byte("wants: "+wants+"\n"))
	}
	title := func() string {
		return strings.Trim(w.form(try(w.Routes.Route(t.Context(), sam.by(), "mine")).must(w, "the route").Form).get("title"), `"`)
	}
	try(put(sam, "One")).must(w, "the route")
	sam.mustPutScenario("mine", "One")
	_, err := put(sam, "Two")
	w.refused(err, errs.ScenarioBroken)
	_, err = sam.putScenario("mine", "Two")
	w.refused(err, errs.ScenarioBroken)

	out := try(keep(sam, "Two")).must(w, "the scenario that waits")
	if !out.Created || len(out.Warnings) != 1 || out.ETag != "" {
		t.Errorf("kept: %+v", out)
	}
	same(t, "in force", sam.scenario("mine"), "wants: One")
	_, err = put(ann, "Two") // it is sam's alone
	w.refused(err, errs.ScenarioBroken)
	_, err = put(sam, "Three")
	w.refused(err, errs.ScenarioBroken)
	same(t, "after refusals", sam.scenario("mine")+", "+title(), "wants: One, One")

	out = try(put(sam, "One")).must(w, "a route with which only the one in force holds")
	if n := len(out.Warnings); n == 0 || !strings.Contains(out.Warnings[n-1], "goes on waiting") {
		t.Errorf("warned: %q", out.Warnings)
	}
	out = try(put(sam, "Two")).must(w, "both")
	if n := len(out.Warnings); n == 0 || !strings.Contains(out.Warnings[n-1], "is in force now") {
		t.Errorf("warned: %q", out.Warnings)
	}
	w.form(out.Form).wants("title", `"Two"`, "scenario/version", "2", "scenario/result", `"holds"`)
	same(t, "both", ann.scenario("mine")+", "+title(), "wants: Two, Two")
	if past := names(try(w.History.History(t.Context(), sam.by(), store.FolderRoutes)).must(w, "the history"), nil); !strings.Contains(past, " mine.scenario.yaml") {
		t.Errorf("the scenario before is not kept: %s", past)
	}

	// What is in force already, or is there without its route, needs not be kept apart.
	same(t, "the same again", try(keep(sam, "Two")).must(w, "the same again").Changed, false)
	try(w.Scenarios.KeepScenario(t.Context(), sam.request(nil), "later", true, []byte("wants: x\n"))).must(w, "without a route")
	same(t, "without a route", sam.scenario("later"), "wants: x")

	// An older one gives way, as it always did; a dry run keeps none.
	try(keep(ann, "Three", dryRun())).must(w, "a dry run")
	_, err = put(ann, "Three")
	w.refused(err, errs.ScenarioBroken)
	try(keep(ann, "Three")).must(w, "of ann")
	w.advance(time.Second)
	sam.mustPutScenario("mine", "title")
	try(put(ann, "Three")).must(w, "of ann")
	same(t, "the later one", ann.scenario("mine"), "wants: title")
	w.refused(try(keep(w.as("bob"), "Two")).err, errs.NotAllowed)
}

// TestScenarioOfMisspeltRoute: a script is told which route it may have meant.
func TestScenarioOfMisspeltRoute(t *testing.T) {
	t.Parallel()
	w, _ := stage(t)
	out, err := w.as("sam").putScenario("aks", "x")
	if err != nil || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], `that you see; did you mean "ask"? The scenario is kept`) {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestScenarioIsPlayedOutside: no transaction waits for a story, what changes meanwhile is
// played again, and the same story once.
func TestScenarioIsPlayedOutside(t *testing.T) {
	t.Parallel()
	w, p := stage(t)
	sam := w.as("sam")
	sam.mustPutRoute("mine", "title: One\n"+plainStates)
	p.meet = func() {
		p.meet = nil
		sam.mustPutRoute("mine", "title: Two\n"+plainStates)
	}
	_, err := sam.putScenario("mine", "One")
	w.refused(err, errs.ScenarioBroken)
	same(t, "plays", p.plays, 2)
	if _, err := sam.putScenario("mine", "Two"); err != nil {
		t.Fatal(err)
	}
	p.failed = errs.New(errs.Unavailable, "Not now.")
	_, err = w.Routes.PutRoute(t.Context(), sam.request(nil), "mine", true, []byte("title: Two\n# other\n"+plainStates))
	w.refused(err, errs.Unavailable)
	p.failed = nil
	sam.mustPutRoute("mine", "title: Two\n# other\n"+plainStates)
	plays := p.plays
	sam.mustPutRoute("mine", "title: Two\n# other\n"+plainStates)
	same(t, "plays of a save that changes nothing", p.plays-plays, 0)
}

// TestScenarioWithChildren: a story is played with the routes that its route starts, as far
// as who stores it sees them, under the names that the texts have.
func TestScenarioWithChildren(t *testing.T) {
	t.Parallel()
	w, p := stage(t)
	sam, ann := w.as("sam"), w.as("ann")
	sam.mustPutRoute("below", "roles: {r: {}}\n"+plainStates)
	ann.mustPutRoute("hidden", plainStates)
	sam.mustPutRoute("above", "states: {open: {type: start, onEnter: [{start: {route: hidden}}]}, done: {type: complete}}\n"+
		"actions: {begin: {trigger: init}, ask: {in: [open], child: {route: below}, to: done}}\n")
	if _, err := sam.putScenario("above", "below"); err != nil {
		t.Fatal(err)
	}
	same(t, "routes", p.routes, "above below ")
	if _, err := w.Routes.RenameRoute(t.Context(), sam.request(nil), "below", "under"); err != nil {
		t.Fatal(err)
	}
	if _, err := sam.putScenario("above", "child"); err != nil {
		t.Fatal(err)
	}
	same(t, "routes, one of which is called something else now", p.routes, "above below ")
}

// TestScenarioMoves: a scenario follows its route to another name, and can be put beside
// another route.
func TestScenarioMoves(t *testing.T) {
	t.Parallel()
	w, _ := stage(t)
	sam := w.as("sam")
	sam.mustPutRoute("one", "title: One\n"+plainStates)
	sam.mustPutScenario("one", "One")
	if _, err := w.Routes.RenameRoute(t.Context(), sam.request(nil), "one", "first"); err != nil {
		t.Fatal(err)
	}
	same(t, "with its route", sam.scenario("first")+", "+sam.scenario("one"), "wants: One, not-found")
	move := func(from, to string, overwrite bool) error {
		_, err := w.Scenarios.MoveScenario(t.Context(), sam.request(nil), from, to, overwrite)
		return err
	}
	sam.mustPutRoute("second", "title: Two\n"+plainStates)
	w.refused(move("first", "second", true), errs.ScenarioBroken)
	if err := move("first", "FIRST", true); err != nil {
		t.Error(err)
	}
	same(t, "under another spelling", sam.scenario("first"), "wants: One")
	if err := move("first", "third", false); err != nil {
		t.Error(err)
	}
	same(t, "moved", sam.scenario("first")+", "+sam.scenario("third"), "not-found, wants: One")
	sam.mustPutScenario("first", "One")
	w.refused(move("third", "first", false), errs.Precondition)
}

// TestScenarioOfDeletedUser: what waits goes with its author; what is beside a route stays.
func TestScenarioOfDeletedUser(t *testing.T) {
	t.Parallel()
	w, _ := stage(t)
	sam, eve, admin := w.as("sam"), w.as("eve"), w.as("admin")
	id := eve.by().ID
	sam.mustPutRoute("mine", "access: {admin: [eve]}\n"+plainStates)
	eve.mustPutScenario("mine", "open")
	eve.mustPutScenario("other", "open")
	if err := w.Accounts.DeleteParty(t.Context(), admin.request(nil), identity.User, "eve", ""); !errs.Is(err, errs.InUse) {
		t.Errorf("the route names her: %v", err)
	}
	sam.mustPutRoute("mine", plainStates)
	bob := w.as("bob")
	bob.mustPutScenario("bobs", "open")
	bob.mustPutScenario("other", "open")
	if err := w.Accounts.DeleteParty(t.Context(), admin.request(nil), identity.User, "bob", "ann"); err != nil {
		t.Fatal(err)
	}
	same(t, "handed over", w.as("ann").scenario("bobs")+", "+eve.scenario("other"), "wants: open, wants: open")
	if err := w.Accounts.DeleteParty(t.Context(), admin.request(nil), identity.User, "eve", ""); err != nil {
		t.Fatal(err)
	}
	same(t, "beside the route", sam.scenario("mine"), "wants: open")
	if _, err := sam.putScenario("mine", "done"); err != nil {
		t.Errorf("after its author has left: %v", err)
	}
	w.view(func(r store.Reader) error {
		all, err := r.Routes().Scenarios().List(id)
		same(t, "scenarios", len(all), 1)
		return err
	})
}

// TestScenarioThatIsNotPlayed: on a server that plays none, scenarios are stored and the
// answers say that they were not played.
func TestScenarioThatIsNotPlayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustPutRoute("mine", plainStates)
	out, err := sam.putScenario("mine", "x")
	if err != nil || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "not played") {
		t.Fatalf("%+v, %v", out, err)
	}
	out = sam.mustPutRoute("mine", "title: Other\n"+plainStates)
	w.form(out.Form).wants("scenario/played", "null", "scenario/result", "null", "scenario/steps", "0")
	if n := len(out.Warnings); n == 0 || !strings.Contains(out.Warnings[n-1], "not played") {
		t.Errorf("warned: %q", out.Warnings)
	}
}

// TestScenarioAndMigration: a migration plays the scenario first, and a dry run of one
// shows both.
func TestScenarioAndMigration(t *testing.T) {
	t.Parallel()
	w, _ := stage(t)
	sam := w.as("sam")
	sam.mustPutRoute("mine", "title: One\n"+plainStates)
	sam.mustPutScenario("mine", "title")
	_, err := w.Routes.MigrateRoute(t.Context(), sam.request(nil), "mine", true, []byte(plainStates))
	w.refused(err, errs.ScenarioBroken)
	req := sam.request(nil)
	req.DryRun = true
	out := try(w.Routes.MigrateRoute(t.Context(), req, "mine", true, []byte("title: Two\n"+plainStates))).must(w, "a dry run")
	w.form(out.Report).wants("scenario/log", `"log"`, "scenario/version", "2", "migration/version", "2")
	out = try(w.Routes.MigrateRoute(t.Context(), sam.request(nil), "mine", true, []byte("title: Two\n"+plainStates))).must(w, "a migration")
	w.form(out.Form).wants("scenario/version", "2", "scenario/log", "absent")
}

// TestScenarioAndConditions: If-Match on a route compares its definition, whenever its
// scenario was played.
func TestScenarioAndConditions(t *testing.T) {
	t.Parallel()
	w, _ := stage(t)
	sam := w.as("sam")
	sam.mustPutRoute("mine", plainStates)
	sam.mustPutScenario("mine", "states")
	first := try(w.Routes.Route(t.Context(), sam.by(), "mine")).must(w, "the route")
	w.advance(1e9)
	sam.mustPutRoute("mine", "# again\n"+plainStates)
	again := try(w.Routes.Route(t.Context(), sam.by(), "mine")).must(w, "the route")
	if first.FormETag == again.FormETag || first.Definition != again.Definition || !strings.HasPrefix(first.FormETag, again.Definition) {
		t.Errorf("ETags %s and %s, definitions %s and %s", first.FormETag, again.FormETag, first.Definition, again.Definition)
	}
}
