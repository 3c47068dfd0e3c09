package machine

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// article is a route of tasks: writing is offered to sam, and to bob and cy of
// the team core; two ways of publishing are a choice.
const article = `
roles: {writer: {assign: ["user:sam"]}, editor: {assign: ["team:core"]}}
xattrs: {ready: {type: boolean, default: true}}
states: {draft: {type: start}, review: {}, out: {type: complete}}
actions:
  begin: {trigger: init}
  write: {in: [draft], role: [writer, editor], to: review, guard: xattr.ready, accept: optional}
  note: {in: [draft, out], allowed: everyone}
  print: {in: [review], role: editor, to: out, choice: how, accept: required}
  post: {in: [review], role: editor, to: out, choice: how, distinct: [write]}
  drop: {enabledIn: [review], role: editor, allowed: "user:sam", to: draft}
`

// TestTasks plays what people do with tasks: state by state, or the refusal.
func TestTasks(t *testing.T) {
	t.Parallel()
	const draft, review, out = "active draft: write note", "active review: print post drop", "completed out: note"
	written := []step{{"start", draft}, {"sam write", review}}
	for name, steps := range map[string][]step{
		"accepted, performed": {
			{"start", draft},
			{"bob !accept write", draft},
			{"sam write", "!action-not-enabled"},
			{"sam !accept write", "!action-not-enabled"},
			{"ann !accept write", "!action-not-enabled"},
			{"bob !accept write", draft},
			{"bob write", review},
		},
		"an administrator performs what is another's": {{"start", draft}, {"bob !accept write", draft}, {"admin write", review}},
		"but does not accept it":                      {{"start", draft}, {"bob !accept write", draft}, {"admin !accept write", "!action-not-enabled"}},
		"nobody's to accept":                          {{"start", draft}, {"ann !accept write", "!not-allowed"}, {"ann !accept nothing", "!not-found"}, {"sam !accept print", "!action-not-enabled"}},
		"whoever is allowed accepts":                  append(written, step{"sam !accept drop", review}, step{"bob drop", "!action-not-enabled"}, step{"sam drop", draft}),
		"released":                                    {{"start", draft}, {"bob !release write", "!action-not-enabled"}, {"bob !accept write", draft}, {"sam !release write", "!not-allowed"}, {"bob !release write", draft}, {"sam write", review}},
		"released by an administrator":                {{"start", draft}, {"bob !accept write", draft}, {"admin !release write", draft}, {"sam write", review}},
		"required":                                    append(written, step{"bob print", "!action-not-enabled"}, step{"admin print", "!action-not-enabled"}, step{"bob !accept print", "active review: print drop"}, step{"bob print", out}),
		"a choice": append(written, step{"bob !accept print", "active review: print drop"}, step{"cy post", "!action-not-enabled"},
			step{"bob !release print", review}, step{"cy post", out}),
		"a choice, aborted":      append(written, step{"bob !accept print", "active review: print drop"}, step{"admin !abort print", "active review: post drop"}),
		"four eyes":              {{"start", draft}, {"bob write", review}, {"bob !accept post", "!four-eyes"}, {"cy !accept post", "active review: post drop"}, {"cy !delegate post bob", "!four-eyes"}, {"cy !delegate post ann", review}},
		"not skipped once taken": {{"start", draft}, {"bob !accept write", draft}, {"admin !skip write", "!action-not-enabled"}, {"bob !release write", draft}, {"admin !skip write", review}},
		"aborted":                {{"start", draft}, {"bob !accept write", draft}, {"admin !abort write", "active draft: note"}},
		"rejected": {
			{"start", draft},
			{"bob !reject write", draft},
			{"bob write", "!not-allowed"},
			{"bob !reject write", "!not-allowed"},
			{"bob !accept write", "!not-allowed"},
			{"cy !reject write", draft},
			{"sam !reject write", "!action-not-enabled"},
			{"ann !reject write", "!not-allowed"},
			{"sam write", review},
		},
		"rejected by whoever had it":                    {{"start", draft}, {"bob !accept write", draft}, {"sam !reject write", "!action-not-enabled"}, {"bob !reject write", draft}, {"bob write", "!not-allowed"}, {"sam !accept write", draft}},
		"offered anew to who rejected":                  append(written, step{"bob !reject print", review}, step{"admin !skip drop", draft}, step{"sam write", review}, step{"bob !accept print", "active review: print drop"}),
		"an administrator is not excluded by rejecting": {{"start", draft}, {"admin !reject write", "!not-allowed"}, {"admin write", review}},
		"delegated": {
			{"start", draft},
			{"sam !delegate write ann", draft},
			{"sam write", "!not-allowed"},
			{"bob write", "!not-allowed"},
			{"ann !reject write", "!action-not-enabled"},
			{"ann !accept write", draft},
			{"ann !release write", draft},
			{"ann write", review},
		},
		"taken back by who delegated it":      {{"start", draft}, {"sam !delegate write ann", draft}, {"bob !release write", "!not-allowed"}, {"sam !release write", draft}, {"ann write", "!not-allowed"}, {"sam write", review}},
		"delegated again by who delegated it": {{"start", draft}, {"sam !delegate write ann", draft}, {"sam !delegate write bob", draft}, {"ann write", "!not-allowed"}, {"bob write", review}},
		"given back by who got it":            {{"start", draft}, {"sam !delegate write ann", draft}, {"ann !release write", draft}, {"ann write", "!not-allowed"}, {"bob write", review}},
		"not taken back once accepted":        {{"start", draft}, {"sam !delegate write ann", draft}, {"ann !accept write", draft}, {"sam !release write", "!not-allowed"}, {"sam !delegate write bob", "!action-not-enabled"}, {"ann write", review}},
		"taken back by an administrator":      {{"start", draft}, {"sam !delegate write ann", draft}, {"admin !release write", draft}, {"sam write", review}},
		"delegated on":                        {{"start", draft}, {"sam !delegate write ann", draft}, {"ann !delegate write bob", draft}, {"ann write", "!not-allowed"}, {"bob write", review}},
		"delegated by who has it":             {{"start", draft}, {"bob !accept write", draft}, {"sam !delegate write ann", "!action-not-enabled"}, {"bob !delegate write ann", draft}, {"ann write", review}},
		"delegated by administrator":          {{"start", draft}, {"bob !accept write", draft}, {"admin !delegate write ann", draft}, {"bob write", "!not-allowed"}, {"admin write", review}},
		"delegated to who rejected":           {{"start", draft}, {"bob !reject write", draft}, {"sam !delegate write bob", draft}, {"bob write", review}},
		"delegated to nobody": {
			{"start", draft},
			{"sam !delegate write", "!invalid"},
			{"sam !delegate write nobody", "!invalid"},
			{"sam !delegate write core", "!invalid"},
			{"sam !delegate write dan", "!invalid"},
			{"ann !delegate write ann", "!not-allowed"},
			{"ann !delegate note ann", "!not-allowed"},
		},
		"of an ended case":    {{"start", draft}, {"cancel", "canceled draft:"}, {"sam !accept write", "!case-not-open"}},
		"of a completed case": append(written, step{"bob !accept print", "active review: print drop"}, step{"bob print", out}, step{"ann !accept note", out}, step{"bob note", "!action-not-enabled"}, step{"ann note", out}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newPlay(t, parsed(t, article)).script(steps)
		})
	}
}

// An accepted task stays with whoever has it though its guard turns false;
// released, it waits.
func TestAcceptedTaskIsNotWatched(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, strings.Replace(article, "guard: xattr.ready", `guard: '!has(xattr.stop)'`, 1)))
	p.script([]step{
		{"bob !accept write", "active draft: write note"},
		{"sam stop=now", "active draft: write note"},
		{"bob !release write", "active draft: note | write"},
		{"bob !accept write", "!action-not-enabled"},
	})
}

// TestTaskWords looks at what refusals, the log and the task's form say.
func TestTaskWords(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, article))
	said := func(step, words string, extra ...string) {
		t.Helper()
		err := p.do(step)
		told, ok := errors.AsType[*errs.Error](err)
		if !ok || !strings.Contains(told.Detail, words) {
			t.Errorf("%s: %v; want a detail with %q", step, err, words)
			return
		}
		if len(extra) == 2 && told.Extra[extra[0]] != extra[1] {
			t.Errorf("%s: %v; want %v", step, told.Extra, extra)
		}
	}
	form := func(action, want string) {
		t.Helper()
		got := compact(t, TaskForm(p.c, p.r, action, Beside{}))
		_, state, _ := strings.Cut(got, `"state":`)
		state, _, _ = strings.Cut(state, `,"due":`)
		_, got, _ = strings.Cut(got, `,"roles":`)
		got, _, _ = strings.Cut(got, `,"need":`)
		if got = state + `,"roles":` + got; got != want {
			t.Errorf("%s is shown as %s, want %s", action, got, want)
		}
	}
	form("write", `"offered","roles":["writer","editor"],"assignees":["sam","core"],"acceptedBy":null`)
	p.script([]step{{"bob !accept write", "active draft: write note"}})
	form("write", `"accepted","roles":["writer","editor"],"assignees":["sam","core"],"acceptedBy":"bob"`)
	said("sam write", "bob has accepted", "acceptedBy", "bob")
	said("sam !release write", "Only bob")
	p.script([]step{{"bob !release write", "active draft: write note"}, {"sam !reject write", "active draft: write note"}})
	form("write", `"offered","roles":["writer","editor"],"assignees":["core"],"acceptedBy":null`)
	said("sam write", "You have rejected")
	p.script([]step{{"bob !reject write", "active draft: write note"}})
	said("cy !reject write", "the last one who can do \"write\", so it cannot be given back")
	p.script([]step{{"cy !delegate write ann", "active draft: write note"}})
	form("write", `"offered","roles":["writer","editor"],"assignees":["ann"],"acceptedBy":null`)
	said("cy write", "delegated to ann")
	p.script([]step{{"ann write", "active review: print post drop"}})
	said("bob print", `{"do": "accept"}`)
	p.script([]step{{"bob !accept print", "active review: print drop"}})
	said("cy post", `bob has accepted "print" instead`, "acceptedBy", "bob")
	want := []string{
		"sam Created", "sam begin", "bob Accepted write", "bob Released write", "sam Rejected write", "bob Rejected write",
		"cy Delegated write to ann", "ann write", "bob Accepted print, which withdrew post",
	}
	if diff := cmp.Diff(want, p.texts()); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
	for _, e := range p.log[2:7] {
		if e.Kind != LogTask || *e.Trigger != ByUser || *e.Action != "write" {
			t.Errorf("logged as %+v", e)
		}
	}
}

// TestT28: the deputy of a voter votes on behalf of the voter, who keeps the
// list and the right meanwhile
// (docs/contract/engine.md#8-acceptance-scenarios).
func TestT28(t *testing.T) {
	t.Parallel()
	r := makeRoute(t, []route.Role{role("voter", rule(route.RuleUser, "ann"))}, "open approved!",
		act{name: "Approve", in: "open", roles: []string{"voter"}, to: "approved"})
	standsIn := actorNamed("sam")
	standsIn.DeputyFor = []Absent{{Name: "ann", Contexts: actorNamed("ann").Contexts}}
	p := started(t, r)
	for _, actor := range []Actor{actorNamed("ann"), standsIn} {
		if got := Tasks(p.c, r, actor); len(got) != 1 || got[0].Lists != OnOffered {
			t.Errorf("%s has the tasks %v", actor.Name, got)
		}
	}
	if err := p.event(Perform{Action: "Approve", Actor: standsIn}); err != nil {
		t.Fatal(err)
	}
	entry := p.log[len(p.log)-2]
	if *entry.Action != "Approve" || *entry.Actor != "sam" || *entry.OnBehalfOf != "ann" {
		t.Errorf("logged as %+v", entry)
	}
}

// TestDeputyOfTasks: deputies do on behalf of the absent what these may do,
// and what either has accepted is the other's too.
func TestDeputyOfTasks(t *testing.T) {
	t.Parallel()
	standsIn := actorNamed("ann")
	standsIn.DeputyFor = []Absent{{Name: "sam", Contexts: actorNamed("sam").Contexts}}
	ended := actorNamed("ann")
	sam := actorNamed("sam")
	for name, test := range map[string]struct {
		events []Event
		behalf string    // of the last
		want   errs.Kind // of the last
	}{
		"accepts and performs":           {[]Event{Accept{Action: "write", Actor: standsIn}, Perform{Action: "write", Actor: standsIn}}, "sam", ""},
		"accepts, the absent performs":   {[]Event{Accept{Action: "write", Actor: standsIn}, Perform{Action: "write", Actor: sam}}, "", ""},
		"accepts, the absent releases":   {[]Event{Accept{Action: "write", Actor: standsIn}, Release{Action: "write", Actor: sam}}, "", ""},
		"performs what the absent has":   {[]Event{Accept{Action: "write", Actor: sam}, Perform{Action: "write", Actor: standsIn}}, "sam", ""},
		"releases what the absent has":   {[]Event{Accept{Action: "write", Actor: sam}, Release{Action: "write", Actor: standsIn}}, "sam", ""},
		"performs after the time":        {[]Event{Accept{Action: "write", Actor: standsIn}, Perform{Action: "write", Actor: ended}}, "", errs.NotAllowed},
		"releases after the time":        {[]Event{Accept{Action: "write", Actor: standsIn}, Release{Action: "write", Actor: ended}}, "sam", ""},
		"rejects for itself":             {[]Event{Reject{Action: "write", Actor: standsIn}, Perform{Action: "write", Actor: standsIn}}, "", errs.NotAllowed},
		"rejects, the absent performs":   {[]Event{Reject{Action: "write", Actor: standsIn}, Perform{Action: "write", Actor: sam}}, "", ""},
		"of one who rejected":            {[]Event{Reject{Action: "write", Actor: sam}, Perform{Action: "write", Actor: standsIn}}, "", errs.NotAllowed},
		"of one to whom it is delegated": {[]Event{Delegate{Action: "write", Actor: actorNamed("bob"), To: "sam"}, Perform{Action: "write", Actor: standsIn}}, "sam", ""},
		"delegates":                      {[]Event{Delegate{Action: "write", Actor: standsIn, To: "cy"}}, "sam", ""},
		"of another":                     {[]Event{Accept{Action: "write", Actor: actorNamed("bob")}, Perform{Action: "write", Actor: standsIn}}, "", errs.ActionNotEnabled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := started(t, parsed(t, article))
			var err error
			for i, e := range test.events {
				if err = p.event(e); err != nil && i < len(test.events)-1 {
					t.Fatal(err)
				}
			}
			if test.want != "" {
				if !errs.Is(err, test.want) {
					t.Fatalf("%v; want %s", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			behalf := ""
			if entry := p.log[len(p.log)-1]; entry.OnBehalfOf != nil {
				behalf = *entry.OnBehalfOf
			}
			if behalf != test.behalf {
				t.Errorf("on behalf of %q, want %q", behalf, test.behalf)
			}
		})
	}
}

// TestPerformedInstead: the refusal of an action that is not enabled any more
// names who performed it, or what was performed instead (SIM-stale). If it was
// not enabled before either, it names nobody.
func TestPerformedInstead(t *testing.T) {
	t.Parallel()
	const text = `
roles: {voter: {assign: [everyone]}}
states: {open: {type: start}, approved: {}, shut: {type: complete}}
actions:
  begin: {trigger: init}
  approve: {in: [open], role: voter, to: approved, type: approve}
  turn-down: {in: [open], role: voter, to: shut, type: deny}
  shut: {in: [approved], role: voter, to: shut}
  back: {enabledIn: [approved], role: voter, allowed: everyone, to: open}
  red: {always: true, allowed: everyone, choice: colour}
  blue: {always: true, allowed: everyone, choice: colour}
`
	for name, test := range map[string]struct {
		steps []string
		asks  string
		by    any // nil for nobody
		says  string
	}{
		"nobody before":          {nil, "shut", nil, "enabled: approve"},
		"itself":                 {[]string{"ann approve"}, "approve", "ann", "ann performed it at"},
		"another that led away":  {[]string{"ann approve"}, "turn-down", "ann", `ann performed "approve" at`},
		"by its type":            {[]string{"ann approve"}, "deny", "ann", `ann performed "approve" at`},
		"the last of its type":   {[]string{"ann turn-down"}, "deny", "ann", "ann performed it at"},
		"before what came later": {[]string{"ann approve", "bob shut"}, "turn-down", "ann", `ann performed "approve" at`},
		"the last one":           {[]string{"ann approve", "bob back", "cy turn-down"}, "approve", "cy", `cy performed "turn-down" at`},
		"won the choice":         {[]string{"bob red"}, "blue", "bob", `bob performed "red" at`},
		"an administrator":       {[]string{"admin !skip approve"}, "turn-down", "admin", `admin performed "approve" at`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := started(t, parsed(t, text))
			for _, step := range test.steps {
				if err := p.do(step); err != nil {
					t.Fatal(err)
				}
			}
			err := p.do("sam " + test.asks)
			told, ok := errors.AsType[*errs.Error](err)
			if !ok || told.Kind != errs.ActionNotEnabled || told.Extra["performedBy"] != test.by || !strings.Contains(told.Detail, test.says) {
				t.Errorf("%v %v; want %v and %q", err, told, test.by, test.says)
			}
		})
	}
}
