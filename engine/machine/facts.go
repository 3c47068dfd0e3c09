package machine

import (
	"time"

	"flowdrive/route"
)

// Input is everything that a decision rests on. Equal inputs give equal outputs.
type Input struct {
	Route *route.Route
	Case  *Case // as it is stored; for Create its seed, see there
	Event Event
	Now   time.Time // if it is before the case's Modified, Decide takes that
	Facts Facts
	Tell  bool           // whether the Output is to have Notices
	Zone  *time.Location // of dates that steps read; nil: UTC

	LabelZone *time.Location // the case's LabelZone; nil: UTC

	// Spent has added what the expressions cost, also those of a decision that fails or lacks
	// a fact; nil: nobody asks.
	Spent *uint64
	// Exhausted says that earlier attempts at the decision, which lacked facts, have used up
	// what its expressions may cost: those of this one fail.
	Exhausted bool

	batch    int  // in place of Batch, for tests; 0: Batch
	foresees bool // it is part of a forecast: nobody is reminded, and expressions may cost less
}

// Facts are what the caller has looked up, because a decision needed it.
type Facts struct {
	Parties  map[string]PartyKind // by name as asked for; NoParty if there is none
	Emails   map[string]string    // addresses, by name as asked for
	Messages map[string][]byte    // contents of the case's messages by label; nil if there is none, or it is longer than MaxFact
	Types    map[string]string    // media types of Messages

	Cases    map[int64]*RelatedCase // nil if there is none
	Members  map[string][]string    // the users of a party by its name, transitively, in order of names
	Admins   map[int64][]string     // the parties that administer a route, by its id
	Watchers map[int64][]string     // the users who watch a route, by its id
	Routes   map[string]*Definition // by name; nil if there is none
	Rights   map[StartRight]StartAnswer
	Told     map[MemberRight]bool
	New      []Identity             // for new cases
	Full     string                 // why there are no more identities, as the reason of a fault; "" if there are
	ChildIDs map[ChildQuery][]int64 // ids, ascending
	Children map[Enablement][]Child // all of an enablement, by id
	Plans    map[Enablement]*Plan   // that an Output had
	Filtered map[Filter]Filtered    // the results of filters
	Called   map[Call]Called        // the results of callbacks
	Searched map[Search]Found       // the results of searches in messages longer than MaxFact
	Room     *int64                 // how many bytes the starter of the tree may still store
	Sizes    map[InputRef]Size      // of messages; zero if there is none
}

// MaxFact is the largest content, in bytes, of a message that a decision rests on
// or that a step writes. A longer one counts as absent.
const MaxFact = 1 << 20

// maxFactWords is MaxFact for people.
const maxFactWords = "1 MiB"

// PartyKind says what a name stands for.
type PartyKind string

// What a name can stand for.
const (
	NoParty   PartyKind = ""
	UserParty PartyKind = "user"
	TeamParty PartyKind = "team"
)

// Need is a fact that a decision lacks. Exactly one of its fields is set, except
// that Case may go with Message.
type Need struct {
	Party   string // the kind of the party with that name
	Email   string // the address of the party with that name
	Message string // the content of the message with that label, of Case; 0: of the event's case

	Case     int64 // the case itself, if Message is ""
	Members  string
	Admins   int64 // of the route with that id
	Watchers int64 // likewise
	Route    string
	Right    StartRight
	Told     MemberRight
	New      int // how many identities in all
	ChildIDs ChildQuery
	Children Enablement
	Plan     Enablement
	Filter   Filter // its result
	Call     Call   // likewise
	Search   Search // likewise
	Room     bool
	Size     InputRef // of the message
}

// Filter is a jq filter with everything that its result depends on, as JSON.
type Filter struct{ Filter, Input, Xattr, Case string }

// Filtered is the result of a filter: JSON, or what went wrong.
type Filtered struct {
	Output []byte
	Fault  string
}
