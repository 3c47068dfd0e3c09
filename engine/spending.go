package engine

import (
	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
)

// contextShare is which part of what the expressions of a unit may cost one user or team can
// use up before their other cases wait for the next unit.
const contextShare = 4

// spending is what the expressions of a unit have cost that does something for many cases. Nobody
// else writes meanwhile: once it is as much as one event may cost, the rest waits for the
// next unit. The zero value is ready.
type spending struct {
	shared   bool // the cases of one context use up a part only, so that they do not keep others waiting
	contexts map[identity.ID]*uint64
}

// allows reports whether another case of the context can be decided on in the unit.
func (s *spending) allows(context identity.ID) bool {
	total, own := uint64(0), uint64(0)
	for id, spent := range s.contexts {
		if total += *spent; id == context {
			own = *spent
		}
	}
	return total < machine.MaxCost && (!s.shared || own < machine.MaxCost/contextShare)
}

// by returns what the cases of a context have spent.
func (s *spending) by(context identity.ID) *uint64 {
	if s.contexts[context] == nil {
		keep(&s.contexts, context, new(uint64))
	}
	return s.contexts[context]
}
