package machine

import (
	"testing"

	"flowdrive/route"
)

// timed has a timed action in one state of two.
func timed(tb testing.TB) *route.Route {
	tb.Helper()
	return makeRoute(tb, nil, "a b",
		act{name: "nag", past: "Nagged", in: "a", trigger: route.TriggerTime, timeout: "P7D"},
		act{name: "stay", title: "Stayed", in: "a", allowed: everybody()},
		act{name: "go", in: "a", allowed: everybody(), to: "b"},
		act{name: "back", in: "b", allowed: everybody(), to: "a"})
}

// looping has two automatic actions that set each other off, once somebody
// lets them.
func looping(tb testing.TB) *route.Route {
	tb.Helper()
	return makeRoute(tb, nil, "s a b",
		act{name: "go", in: "s", allowed: everybody(), timeout: "P1D", to: "a"},
		act{name: "ping", in: "a", trigger: route.TriggerAuto, to: "b"},
		act{name: "pong", in: "b", trigger: route.TriggerTime, timeout: "PT0S", to: "a"},
		act{name: "stop", always: true, allowed: everybody(), to: "s"})
}
