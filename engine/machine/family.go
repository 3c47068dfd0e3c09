package machine

import (
	"slices"
	"time"

	"flowdrive/internal/label"
	"flowdrive/route"
)

// Bounds on trees of cases (docs/contract/engine.md#limits and
// docs/contract/engine.md#6-trees-and-transactions).
const (
	MaxChildren   = 100_000 // of one enablement
	MaxDepth      = 16      // of a case below its root
	MaxLinks      = 100     // of cases that start each other
	Batch         = 256     // children that one event creates or ends; the rest follow by further events
	maxChildLines = 100     // children that the form of a case shows
)

// Family is what a case knows of its parent and children.
type Family struct {
	Parent            int64       `json:"pa,omitempty"` // id of the case whose enablement created it, 0 for none
	ParentEnablement  int64       `json:"pr,omitempty"` // that enablement
	ParentAction      string      `json:"pn,omitempty"`
	Depth             int         `json:"dp,omitempty"` // below the root
	Links             int         `json:"lk,omitempty"` // of cases that started each other, up to this one
	Mapped            []string    `json:"mr,omitempty"` // roles that the parent filled: rules never do
	Children          []ChildLine `json:"ch,omitempty"` // the newest
	ChildrenCount     int64       `json:"cc,omitempty"`
	AncestorSuspended bool        `json:"ht,omitempty"` // it has completed, and an ancestor is suspended: nothing of it is due
	Work              []Work      `json:"wk,omitempty"`
}

// ChildSummary is what an enablement knows of the cases that it created. It is never
// changed once it is part of a case, only replaced.
type ChildSummary struct {
	Route     string    `json:"r"`
	Total     int64     `json:"n"`           // that there shall be
	Made      int64     `json:"m"`           // that there are so far
	Completed int64     `json:"c,omitempty"` // of them
	Canceled  int64     `json:"x,omitempty"`
	Tally     []Tally   `json:"t,omitempty"` // of the completed ones, for every status of their route as it was
	Entered   bool      `json:"w,omitempty"` // the status in the meantime was entered
	Finished  time.Time `json:"f,omitzero"`  // since when the action is to be performed
}

// Tally is how many children completed with a status.
type Tally struct {
	Status string `json:"s"`
	Count  int64  `json:"n"`
}

// add counts, or with a negative n takes back, children that completed with
// the status.
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
	Action string `json:"a"` // whose enablement created it
}

// WorkKind is a kind of work that an event left over.
type WorkKind string

// The kinds of work that is done in batches.
const (
	WorkMake    WorkKind = "make"    // children of an enablement are missing
	WorkEnd     WorkKind = "end"     // children of an enablement that is gone have not ended yet
	WorkSuspend WorkKind = "hold"    // children do not know yet that the case is suspended
	WorkResume  WorkKind = "release" // or that it is no longer
)

// Work is what an event left over because it concerns too many children. It
// is due at once, and each event does a batch of it, so that other cases go
// on in between.
type Work struct {
	Kind       WorkKind `json:"k"`
	Enablement int64    `json:"n,omitempty"` // enablement
	After      int64    `json:"a,omitempty"` // id of the last child that was seen to
}

// nextWork returns the place of the first work that can be done now, or -1.
// While the case is suspended it starts no children.
func (c *Case) nextWork() int {
	return slices.IndexFunc(c.Work, func(w Work) bool { return w.Kind != WorkMake || !c.suspended() })
}

// Enablement names the row of an enablement.
type Enablement struct{ Case, Number int64 }

// ChildQuery asks for the ids of the children of an enablement that are neither
// closed nor canceled: the first Batch of those after an id.
type ChildQuery struct {
	Enablement
	After int64 // id
}

// Plan is which children an enablement shall have: one for each combination
// of the parties of its dimensions.
type Plan struct {
	Shared     []Players   `json:"s,omitempty"` // roles that every child has alike
	Dimensions []Dimension `json:"d,omitempty"`
}

// Dimension is a role of the children and who plays it, one in each child.
type Dimension struct {
	Role  string   `json:"r"`
	Names []string `json:"n"`
}

// size returns how many children the plan has, at most more than MaxChildren.
func (p *Plan) size() int64 {
	n := int64(1)
	for i := range p.Dimensions {
		if n *= int64(len(p.Dimensions[i].Names)); n > MaxChildren || n == 0 {
			return n
		}
	}
	return n
}

// child returns the roles of the i-th child, and the names that distinguish
// it. The role named last changes first.
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

// RelatedCase is a case that an event touches besides its own.
type RelatedCase struct {
	Route    *route.Route
	Case     *Case
	Messages map[string][]byte // as those of Facts
	Types    map[string]string // likewise
}

// Identity is what the shell gives a new case.
type Identity struct {
	ID   int64
	GUID string // 32 hex digits
}

// Definition is the latest version of a route, of which cases can be started.
type Definition struct {
	ID           int64
	Version      int64
	Route        *route.Route
	StartBlocked bool // a hold or its group keeps its cases from starting now
}

// Child is what decide and complete see of a child.
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
	return Child{ID: c.ID, Life: c.Life, Status: c.Status, Resolution: c.Resolution, Xattrs: c.Xattrs, Roles: c.Roles}
}
