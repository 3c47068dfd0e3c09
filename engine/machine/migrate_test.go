package machine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/internal/errs"
)

const beforeMigration = `
xattrs: {n: {type: number}}
roles: {r: {assign: [starter]}, gone: {assign: [starter]}}
timers: {t: {limit: PT1H}, u: {limit: PT1H}}
states: {a: {type: start}, b: {}, c: {type: complete}}
actions:
  open: {trigger: init}
  stay: {in: [a], role: r}
  nag: {in: [a], trigger: time, timeout: P7D, past: Nagged}
  old: {in: [a], role: gone}
  turn: {in: [a], role: r}
  go: {in: [a], role: r, to: b}
  end: {in: [a], role: r, to: c}
`

// The state b is gone, and so is the action old; turn is automatic now, fresh
// is new, nag takes half as long, and who does it is a role of its own.
const afterMigration = `
xattrs: {n: {type: number, default: 5}}
roles: {who: {assign: ["user:ann"]}, r: {assign: [starter]}}
timers: {u: {limit: PT5M}}
states: {a: {type: start}, c: {type: complete}}
actions:
  open: {trigger: init}
  fresh: {in: [a], role: who}
  stay: {in: [a], role: r}
  nag: {in: [a], trigger: time, timeout: P3D, past: Nagged}
  turn: {in: [a], trigger: auto, past: Turned, max: 1}
  end: {in: [a], role: r, to: c}
  back: {in: [c], role: r, to: a}
`

func migrated(t *testing.T, p *play) error {
	t.Helper()
	from := p.r
	p.r = parsed(t, afterMigration)
	return p.event(Migrate{Actor: actorNamed("admin"), Version: 4, From: from})
}

// TestMigrate: what still is in the route keeps its row and due time, what is
// new is enabled, what is gone un-enabled (TM13, TM14, A4, RQ-42).
func TestMigrate(t *testing.T) {
	t.Parallel()
	p := started(t, parsed(t, beforeMigration))
	p.script([]step{{"sam stay", "active a: stay old turn go end | nag"}, {"+24h due", "active a: stay old turn go end | nag"}})
	before, entries := p.c, len(p.log)
	if err := migrated(t, p); err != nil {
		t.Fatal(err)
	}
	if got, want := p.state(), "active a: fresh stay end | nag"; got != want {
		t.Fatalf("state %s, want %s", got, want)
	}
	for _, name := range []string{"stay", "nag", "end"} {
		if diff := cmp.Diff(before.enablement(name), p.c.enablement(name)); diff != "" {
			t.Errorf("%s has changed: %s", name, diff)
		}
	}
	if due := p.c.NextDue(); !due.Equal(startOfTests().AddDate(0, 0, 7)) {
		t.Errorf("due %v", due)
	}
	if got, want := p.texts()[entries:], []string{"admin Moved to version 4 of the route", "- Turned"}; !cmp.Equal(got, want) {
		t.Errorf("log %q, want %q", got, want)
	}
	n, _ := p.c.Xattrs.Get("n")
	if p.c.RouteVersion != 4 || p.c.Visit != before.Visit || n.Text != "5" || !cmp.Equal(p.c.RoleParties("who"), []string{"ann"}) || p.c.RoleParties("gone") != nil {
		t.Errorf("case %s", p.c.Marking())
	}
	same := p.c
	if err := p.event(Migrate{Actor: actorNamed("admin"), Version: 4, From: p.r}); err != nil || p.c.Version != same.Version {
		t.Errorf("moved twice: %v", err)
	}
}

func TestMigrateByLife(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before []string
		kind   errs.Kind
		want   string
		then   []step
	}{
		"queued":                     {nil, "", "queued :", []step{{"start", "active a: fresh stay end | nag"}}},
		"in a state that is gone":    {[]string{"start", "sam go"}, errs.Migrate, "active b:", nil},
		"suspended":                  {[]string{"start", "sam !suspend"}, "", "suspended a: stay end | nag", []step{{"sam !resume", "active a: fresh stay end | nag"}}},
		"suspended, and overdue":     {[]string{"start", "sam !suspend 1h", "+2h"}, "", "active a: fresh stay end | nag", nil},
		"completed":                  {[]string{"start", "sam end"}, "", "completed c: back", nil},
		"canceled":                   {[]string{"start", "cancel"}, errs.CaseNotOpen, "canceled a:", nil},
		"an XATTR that is no number": {[]string{"start", "sam n=5"}, "", "active a: fresh stay end | nag", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, parsed(t, beforeMigration))
			for _, do := range test.before {
				if err := p.do(do); err != nil {
					t.Fatal(do, err)
				}
			}
			from := p.r
			if err := migrated(t, p); errs.KindOf(err) != test.kind {
				t.Fatalf("%v, want %q", err, test.kind)
			}
			if test.kind != "" {
				p.r = from
			}
			if got := p.state(); got != test.want {
				t.Fatalf("state %s, want %s", got, test.want)
			}
			p.script(test.then)
		})
	}
}

// TestMigrateModel: the two models have no status in common.
func TestMigrateModel(t *testing.T) {
	t.Parallel()
	const dependency = "model: dependency\nactions: {a: {allowed: [everyone]}, b: {allowed: [everyone]}}\n"
	for _, texts := range [][2]string{{beforeMigration, dependency}, {dependency, beforeMigration}} {
		p := started(t, parsed(t, texts[0]))
		from := p.r
		p.r = parsed(t, texts[1])
		if err := p.event(Migrate{Actor: actorNamed("admin"), Version: 4, From: from}); !errs.Is(err, errs.Migrate) {
			t.Errorf("%v", err)
		}
	}
}

// TestMigrateFault: what cannot be done leaves the case as it is.
func TestMigrateFault(t *testing.T) {
	t.Parallel()
	for text, kind := range map[string]errs.Kind{
		"xattrs: {n: {type: boolean}}\nstates: {a: {type: start}}\nactions: {open: {trigger: init}}\n":                                                        errs.Invalid,
		"states: {a: {type: start}, b: {}}\nactions: {open: {trigger: init}, ping: {in: [a], trigger: auto, to: b}, pong: {in: [b], trigger: auto, to: a}}\n": errs.EndlessLoop,
	} {
		p := started(t, parsed(t, beforeMigration))
		p.script([]step{{"sam n=5", "active a: stay old turn go end | nag"}})
		from, before := p.r, p.c
		p.r = parsed(t, text)
		if err := p.event(Migrate{Actor: actorNamed("admin"), Version: 4, From: from}); errs.KindOf(err) != kind || p.c != before {
			t.Errorf("%v, want %q", err, kind)
		}
	}
}

// TestMigrateChildren: the children of an action that still starts them go
// on; those of one that does no more end.
func TestMigrateChildren(t *testing.T) {
	t.Parallel()
	const head = "roles: {r: {assign: [starter]}, voter: {assign: ['team:core']}}\nstates: {a: {type: start}, b: {}, c: {type: complete}}\n"
	const poll = head + "actions: {open: {trigger: init}, vote: {in: [a], child: {route: ballot, roles: {voter: {from: voter, each: per_user}}, while: b}, to: c}}\n"
	const ballot = "roles: {voter: {}}\nstates: {open: {type: start}, done: {type: complete}}\nactions: {begin: {trigger: init}, cast: {in: [open], role: voter, to: done}}\n"
	w := newWorld(t, named(t, "poll", poll), named(t, "ballot", ballot))
	id := w.start("poll", nil)
	to := func(version int64, text, want string) {
		t.Helper()
		from := w.routes["poll"].Route
		w.routes["poll"] = &Definition{ID: 1, Version: version, Route: named(t, "poll", text)}
		if err := w.event(id, Migrate{Actor: actorNamed("admin"), Version: version, From: from}); err != nil {
			t.Fatal(err)
		}
		w.run()
		if got := w.show(id); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	to(2, "title: Other\n"+poll, "active b | vote; 18 active open, 19 active open")
	to(3, head+"actions: {open: {trigger: init}, vote: {in: [a, b], role: r, to: c}}\n", "active b; 18 canceled open, 19 canceled open")
}
