package machine

import (
	"cmp"
	"slices"
	"time"

	"flowdrive/internal/label"
	"flowdrive/route"
)

// Bounds on trees of cases (docs/contract/engine.md#limits and
// docs/contract/engine.md#6-trees-and-transactions).
const (
	MaxChildren   = 100_000 // of one enablement
	MaxDepth      = 16      // of a case, below its root
	MaxLinks      = 100     // in a chain of cases that start each other
	Batch         = 256     // children that one event creates or ends; later events do the rest
	maxChildLines = 100     // children that the form of a case shows
)

// Family is what a case knows of its parent and children.
type Family struct {
	Parent            int64       `json:"pa,omitempty"` // id of the case that created it, 0 for none
	ParentEnablement  int64       `json:"pr,omitempty"` // number of the parent's enablement that created it
	ParentAction      string      `json:"pn,omitempty"`
	Depth             int         `json:"dp,omitempty"` // below the root
	Links             int         `json:"lk,omitempty"` // length of the chain of cases that started each other, up to this one
	Origin            int64       `json:"og,omitempty"` // id of the case with which the chain and tree began that this one is of, 0 for itself
	Mapped            []string    `json:"mr,omitempty"` // roles that the parent filled, so that no rule does
	Children          []ChildLine `json:"ch,omitempty"` // the newest
	ChildrenCount     int64       `json:"cc,omitempty"`
	AncestorSuspended bool        `json:"ht,omitempty"` // of a completed case: an ancestor is suspended, so nothing of it is due
	Work              []Work      `json:"wk,omitempty"`
}

// Began returns the id of the case with which everything began that started c.
func (c *Case) Began() int64 { return cmp.Or(c.Origin, c.ID) }

// ChildSummary is what an enablement counts of its children. Once it is part of a
// case it is not changed, only replaced.
type ChildSummary struct {
	Route     string    `json:"r"`
	Total     int64     `json:"n"`           // planned
	Made      int64     `json:"m"`           // created so far
	Completed int64     `json:"c,omitempty"` // of them
	Canceled  int64     `json:"x,omitempty"`
	Tally     []Tally   `json:"t,omitempty"` // of the completed ones, for each status that their route had
	Entered   bool      `json:"w,omitempty"` // whether the action's status for the meantime was entered
	Finished  time.Time `json:"f,omitzero"`  // since when the action is due because of its children; zero: it is not
}

// Tally is how many children completed with a status.
type Tally struct {
	Status string `json:"s"`
	Count  int64  `json:"n"`
}

// add counts n children that completed with the status; a negative n takes them
// back.
func (k *ChildSummary) add(status string, n int64) {
	k.Completed += n
	for i := range k.Tally {
		if k.Tally[i].Status == status {
			k.Tally[i].Count += n
			return
		}
	}
	k.Tally = append(k.Tally, Tally{Status: status, Count: n})
}

// open returns how many children have not come to an end.
func (k *ChildSummary) open() int64 { return k.Total - k.Completed - k.Canceled }

// ChildLine is what a case shows of a child.
type ChildLine struct {
	ID     int64  `json:"id"`
	Route  string `json:"r"`
	Life   Life   `json:"l"`
	Status string `json:"s,omitempty"`
	Action string `json:"a"` // of the parent, that created it
}

// WorkKind is a kind of Work.
type WorkKind string

// The kinds of work that is done in batches.
const (
	WorkMake    WorkKind = "make"    // children of an enablement are missing
	WorkEnd     WorkKind = "end"     // children of an enablement that is gone have not ended yet
	WorkSuspend WorkKind = "hold"    // children have not been suspended with the case yet
	WorkResume  WorkKind = "release" // children have not been resumed with the case yet
)

// Work is what an event leaves to later events because it concerns too many
// children. It is due at once, and each event does a batch, so that other cases
// go on in between.
type Work struct {
	Kind       WorkKind `json:"k"`
	Enablement int64    `json:"n,omitempty"` // enablement
	After      int64    `json:"a,omitempty"` // id of the last child that was handled
}

// nextWork returns the place of the first work that can be done now, or -1. A
// suspended case creates no children.
func (c *Case) nextWork() int {
	return slices.IndexFunc(c.Work, func(w Work) bool { return w.Kind != WorkMake || !c.suspended() })
}

// Enablement names an enablement of a case.
type Enablement struct{ Case, Number int64 }

// ChildQuery asks for the children of an enablement that are neither closed nor
// canceled: for the first Batch of ids greater than After.
type ChildQuery struct {
	Enablement
	After int64 // id
}

// Plan says which children an enablement will have: one for each combination of
// the parties of its dimensions.
type Plan struct {
	Shared     []Players   `json:"s,omitempty"` // roles that are the same in every child
	Dimensions []Dimension `json:"d,omitempty"`
}

// Dimension is a role that a different party plays in each child.
type Dimension struct {
	Role  string   `json:"r"`
	Names []string `json:"n"`
}

// size returns how many children the plan has. It stops counting above MaxChildren.
func (p *Plan) size() int64 {
	n := int64(1)
	for i := range p.Dimensions {
		if n *= int64(len(p.Dimensions[i].Names)); n > MaxChildren || n == 0 {
			return n
		}
	}
	return n
}

// child returns the roles of the i-th child and the names that distinguish it. The
// last dimension changes first.
func (p *Plan) child(i int64) (roles []Players, names []string) {
	names = make([]string, len(p.Dimensions))
	for d := len(p.Dimensions) - 1; d >= 0; d-- {
		of := p.Dimensions[d].Names
		names[d] = of[i%int64(len(of))]
		i /= int64(len(of))
	}
	roles = append(roles, p.Shared...)
	for d := range p.Dimensions {
		roles = append(roles, Players{Role: p.Dimensions[d].Role, Parties: []string{names[d]}})
	}
	return roles, names
}

// RelatedCase is a case, other than the event's own, that an event touches.
type RelatedCase struct {
	Route    *route.Route
	Case     *Case
	Messages map[string][]byte // as in Facts
	Types    map[string]string // as in Facts
}

// Identity is what the caller gives a new case.
type Identity struct {
	ID   int64
	GUID string // 32 hex digits
}

// Definition is the latest version of a route, with which cases are created.
type Definition struct {
	ID           int64
	Version      int64
	Route        *route.Route
	StartBlocked bool // a hold, or a busy group, keeps its cases from starting now
}

// Child is what the expressions decide and complete see of a child.
type Child struct {
	ID         int64
	Life       Life
	Status     string
	Resolution string
	Xattrs     label.Dict
	Roles      []Players
}

// ChildOf returns what decide and complete see of the case as a child.
func ChildOf(c *Case) Child {
	return Child{ID: c.ID, Life: c.Shown(), Status: c.Status, Resolution: c.Resolution, Xattrs: c.Xattrs, Roles: c.Roles}
}
