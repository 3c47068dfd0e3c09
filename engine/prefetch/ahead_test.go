package prefetch

import (
	"bytes"
	"testing"

	"flowdrive/engine/machine"
)

func TestResultsOfFiltersAreKept(t *testing.T) {
	t.Parallel()
	var c Filters
	f := machine.Filter{Filter: ".a", Input: "{}"}
	if _, ran := c.Get(f); ran {
		t.Error("a filter that was never run has yielded something")
	}
	c.Put(f, machine.Filtered{Output: []byte("1")})
	c.Put(f, machine.Filtered{Output: []byte("2")}) // a filter is pure: the first is kept
	if got, ran := c.Get(f); !ran || string(got.Output) != "1" {
		t.Errorf("the filter yielded %+v, %t", got, ran)
	}
	for _, other := range []machine.Filter{{Filter: ".b", Input: "{}"}, {Filter: ".a", Xattr: "{}"}, {Filter: ".a{}"}, {Filter: ".a", Input: "{}", Case: "{}"}} {
		if _, ran := c.Get(other); ran {
			t.Errorf("%+v is taken for another filter", other)
		}
	}
}

// TestFiltersRoom: where there is no more room the oldest go.
func TestFiltersRoom(t *testing.T) {
	t.Parallel()
	var c Filters
	large := bytes.Repeat([]byte("x"), room/3)
	for _, filter := range []string{"a", "b", "c"} {
		c.Put(machine.Filter{Filter: filter}, machine.Filtered{Output: large})
	}
	for filter, want := range map[string]bool{"a": false, "b": true, "c": true} {
		if _, ran := c.Get(machine.Filter{Filter: filter}); ran != want {
			t.Errorf("%s is held: %t, want %t", filter, ran, want)
		}
	}
	if c.size > room {
		t.Errorf("%d bytes are held", c.size)
	}
}

func TestAnswersOfCallsAreKept(t *testing.T) {
	t.Parallel()
	var c Calls
	call := machine.Call{Name: "pick", Case: "{}"}
	c.Put(call, machine.Called{Names: []string{"sam"}})
	if got, asked := c.Get(call); !asked || len(got.Names) != 1 {
		t.Errorf("the callback yielded %+v, %t", got, asked)
	}
	if _, asked := c.Get(machine.Call{Name: "pick"}); asked {
		t.Error("it answers for another case")
	}
	c.Drop(call)
	if _, asked := c.Get(call); asked {
		t.Error("it is not asked anew")
	}
}

// TestNoTwoAttemptsHaveOneIdentity: no two attempts get the same.
func TestNoTwoAttemptsHaveOneIdentity(t *testing.T) {
	t.Parallel()
	var held Identities[int]
	if got := held.Take(1); got != nil {
		t.Errorf("a new attempt gets %v", got)
	}
	held.Put(1, machine.Identity{ID: 7})
	held.Put(2)
	if got := held.Take(1); len(got) != 1 || got[0].ID != 7 {
		t.Errorf("the attempt gets %v", got)
	}
	if got := held.Take(1); got != nil {
		t.Errorf("another one gets the same: %v", got)
	}
	for i := range 2 * mostHeld {
		held.Put(i, machine.Identity{ID: 7})
	}
	if n := len(held.held); n > mostHeld {
		t.Errorf("%d attempts are held", n)
	}
}
