package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// board returns the states on the board of a route, those that are not listed
// in brackets.
func (u user) board(route string) string {
	u.Helper()
	states := try(u.Cases.Board(u.Context(), u.by(), route)).must(u.world, "the board of "+route)
	out := make([]string, len(states))
	for i, s := range states {
		if out[i] = s.Name; !s.Listed {
			out[i] = "(" + s.Name + ")"
		}
	}
	return strings.Join(out, " ")
}

// TestBoardHasOpenStatesAndWhatOneSees: the open states, those that an action of
// people leads to, and each that holds a case which one sees.
func TestBoardHasOpenStatesAndWhatOneSees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, sam, ann, bob, eve := w.as("admin"), w.as("sam"), w.as("ann"), w.as("bob"), w.as("eve")
	cards := func(u user, state string) string {
		u.Helper()
		return names(w.Cases.Cases(t.Context(), u.by(), engine.Filter{Route: "ask", Status: state, OnBoard: true}))
	}
	same(t, "empty", sam.board("ask"), "open answered closed")
	// Helpers are the team core, so that ann sees what sam and bob start.
	one, two := sam.startCase(`{"route": "ask"}`), bob.startCase(`{"route": "ask"}`)
	ann.mustPerform(one, "answer")
	sam.mustPerform(one, "close")
	for u, want := range map[user]string{sam: "open answered closed", admin: "open answered closed", bob: "open answered closed"} {
		same(t, "to "+u.name, u.board("ASK"), want)
	}
	for u, want := range map[user]string{eve: "", ann: fmt.Sprint(two), admin: fmt.Sprint(two), bob: fmt.Sprint(two)} {
		same(t, "open to "+u.name, cards(u, "open"), want)
	}
	same(t, "closed to sam", cards(sam, "closed"), fmt.Sprint(one))
	same(t, "closed to bob", cards(bob, "closed"), "")

	// What is canceled is on no board, whatever it was in.
	w.kind("cancel", bob.deleteCase(fmt.Sprint(two)+".json"), "")
	same(t, "canceled", cards(bob, "open")+cards(admin, "open"), "")

	// Cases of an older version may be in states that the route has no more.
	three := bob.startCase(`{"route": "ask"}`)
	renamed := strings.NewReplacer("open:", "fresh:", "[open]", "[fresh]", "to: open", "to: fresh", "closed:", "over:",
		"[closed]", "[over]", "to: closed", "to: over").Replace(routeAsk)
	admin.mustPutRoute("ask", renamed)
	same(t, "to sam", sam.board("ask"), "fresh answered over closed open")
	same(t, "to bob", bob.board("ask"), "fresh answered over open")
	same(t, "to eve", eve.board("ask"), "fresh answered over")
	same(t, "to admin", admin.board("ask"), "fresh answered over closed open")
	same(t, "in the old state", cards(bob, "open"), fmt.Sprint(three))

	for _, tt := range []struct {
		u           user
		state, want string
	}{
		{sam, "FRESH", "fresh"},
		{eve, "over", "over"},
		{sam, "Closed", "closed"},
		{bob, "open", "open"},
		{admin, "OPEN", "open"},
		{eve, "open", ""},
		{bob, "closed", ""},
		{admin, "never", ""},
	} {
		got, err := w.Cases.BoardState(t.Context(), tt.u.by(), "ask", tt.state)
		if tt.want == "" {
			w.kind(tt.state+" to "+tt.u.name, err, errs.NotFound)
		} else if err != nil || got != tt.want {
			t.Errorf("%s to %s: %q, %v", tt.state, tt.u.name, got, err)
		}
	}
	w.kind("of a route that is not seen", try(w.Cases.Board(t.Context(), bob.by(), "own")).err, errs.NotFound)
	w.kind("of a route that is not seen", try(w.Cases.BoardState(t.Context(), bob.by(), "own", "open")).err, errs.NotFound)
}

// TestBoardOfDeputy: who stands in sees the cases in which the absent plays a
// role, on the board as well.
func TestBoardOfDeputy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam, eve := w.as("sam"), w.as("eve")
	id := sam.startCase(`{"route": "ask"}`)
	w.as("ann").mustPerform(id, "answer")
	sam.mustPerform(id, "close")
	same(t, "before", eve.board("ask"), "open answered closed")
	w.standsIn("eve", "ann")
	same(t, "standing in", eve.board("ask"), "open answered closed")
}

// TestLargeBoard: more cases than are read at once.
func TestLargeBoard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mayBeUnsound = true
	sam, eve := w.as("sam"), w.as("eve").id()
	w.update(func(tx store.Tx) error {
		routeID := int64(0)
		if r, err := tx.Routes().GetByName("ask"); err == nil {
			routeID = r.ID
		}
		for i := range 1200 {
			c := &store.Case{
				ID: w.db.NextID(), RouteID: routeID, ContextID: sam.id(), StarterID: sam.id(), State: "active", Status: "open",
				Version: 1, Revision: 1, Marking: []byte("{}"), Created: w.clock.Now(), Modified: w.clock.Now(),
				Form: fmt.Appendf(nil, `{"guid":"%032d","title":"","roles":{}}`, i), Access: []identity.ID{sam.id()},
			}
			if i == 1100 {
				c.State, c.Status, c.Access = "completed", "closed", []identity.ID{sam.id(), eve}
			}
			if err := tx.Write().Cases().Insert(c); err != nil {
				return err
			}
		}
		return nil
	})
	for _, name := range []string{"sam", "eve", "admin"} {
		same(t, name, w.as(name).board("ask"), "open answered closed")
	}
}

// TestBoardCost: what a board costs does not grow with its cases: the states that hold some
// are looked for among those that are known already, and the cards are read together.
func TestBoardCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as("admin").mustPutRoute("desk", routeDesk)
	sam, eve := w.as("sam"), w.as("eve")
	cost := func(u user) (states, cards int64) {
		t.Helper()
		before := w.db.Stats().Statements
		u.board("ask")
		between := w.db.Stats().Statements
		try(w.Cases.NewestCases(t.Context(), u.by(), engine.NewestQuery{Route: "ask", Status: "open", Limit: 30})).must(w, "the cards")
		return between - before, w.db.Stats().Statements - between
	}
	start := func(n int) {
		t.Helper()
		for range n {
			id := sam.startCase(`{"route": "ask"}`)
			w.as("ann").mustPerform(id, "answer")
			sam.mustPerform(id, "close")
			sam.startCase(`{"route": "ask"}`)
			eve.startCase(`{"route": "desk", "title": "Of another route"}`)
		}
	}
	start(2)
	cost(sam)
	cost(eve)
	states, cards := cost(sam)
	others, _ := cost(eve)
	start(28)
	cost(sam)
	cost(eve)
	if more, all := cost(sam); more != states || all > cards+3 {
		t.Errorf("with 30 cases a board is %d and %d statements, with 2 it is %d and %d", more, all, states, cards)
	}
	if more, _ := cost(eve); more != others {
		t.Errorf("for who sees none of 60 cases it is %d statements, of 4 it is %d", more, others)
	}
}
