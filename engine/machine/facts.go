package machine

import (
	"time"

	"flowdrive/route"
)

// Input is what a decision rests on. An event with its facts is what can be
// replayed.
type Input struct {
	Route *route.Route
	Case  *Case // as it is stored; for Create: its seed, see there
	Event Event
	Now   time.Time // never before the case's Modified: Decide sees to it
	Facts Facts
	Tell  bool // somebody can be told: the Output shall have Notices

	batch int // as Batch, for tests; 0: Batch
}

// Facts are values that the shell has looked up.
type Facts struct {
	Parties  map[string]PartyKind // by name as asked for; NoParty where there is none
	Emails   map[string]string    // addresses, by name as asked for
	Messages map[string][]byte    // contents of the case's messages by label; nil where there is none, or one too long
	Types    map[string]string    // media types of Messages

	Cases    map[int64]*RelatedCase // nil where there is none
	Members  map[string][]string    // the persons of a party by its name, transitively, in order of names
	Admins   map[int64][]string     // the parties that administer a route, by its id
	Watchers map[int64][]string     // the users who watch a route, by its id
	Routes   map[string]*Definition // by name; nil where there is none
	Rights   map[StartRight]bool
	New      []Identity             // of new cases
	Full     bool                   // there are no more: the starter has as many open cases as the limit allows
	ChildIDs map[ChildQuery][]int64 // ids, ascending
	Children map[Enablement][]Child // all of an enablement, by id
	Plans    map[Enablement]*Plan   // that an Output had
	Filtered map[Filter]Filtered    // what filters yield
	Called   map[Call]Called        // what callbacks yield
}

// MaxFact bounds the content of a message that a decision rests on, and of
// one that a step writes; a longer one is as if it were absent.
const MaxFact = 1 << 20

// PartyKind says what a name stands for.
type PartyKind string

// What a name can stand for.
const (
	NoParty   PartyKind = ""
	UserParty PartyKind = "user"
	TeamParty PartyKind = "team"
)

// Need is a fact that was absent; one of its fields is set.
type Need struct {
	Party   string // the kind of the party of that name
	Email   string // the address of the party of that name
	Message string // the content of the message with that label; of the case Case, 0 for the event's own

	Case     int64 // the case, without Message
	Members  string
	Admins   int64 // of the route with that id
	Watchers int64 // likewise
	Route    string
	Right    StartRight
	New      int // so many identities in all
	ChildIDs ChildQuery
	Children Enablement
	Plan     Enablement
	Filter   Filter // what it yields
	Call     Call   // likewise
}

// Filter is a jq filter with all that its result depends on, as JSON.
type Filter struct{ Filter, Input, Xattr, Case string }

// Filtered is what a filter yields: JSON, or what is wrong with it.
type Filtered struct {
	Output []byte
	Fault  string
}
