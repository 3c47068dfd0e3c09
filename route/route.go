// Package route holds workflow definitions: it reads a route document, JSON
// or YAML, into a compiled Route, with every fault and warning. It does not
// run anything and looks nobody up.
package route

import "flowdrive/clock"

// Model says how a route decides what comes next.
type Model string

// The models of routes.
const (
	FSM        Model = "fsm"
	Dependency Model = "dependency"
)

// Route is a definition, checked and compiled. It is never changed once
// made, so that any number of cases share it. Slices keep the order of
// definition, which is content.
type Route struct {
	Name        string
	Title       string
	Description string
	Model       Model
	Context     string // the owner's name, "" for the author
	Access      Access
	Priority    int    // of its cases; DefaultPriority where the document has none
	Output      string // label of the message shown as output, "" for the default
	Roles       []Role
	States      []State
	Actions     []Action
	Start       int // index of the start state in States
	Init        int // index of the init action in Actions

	parties []Party
}

// DefaultPriority is the priority of cases whose route names none.
const DefaultPriority = 200

// Access names the users and teams, or "everyone", that may start, read and
// administer. A list that the document does not have is nil and means the
// owner context; an empty list means nobody.
type Access struct {
	Start []string
	Read  []string
	Admin []string
}

// Role is a part that people play in a case.
type Role struct {
	Name   string
	Title  string
	Assign []Rule // tried in order; the first that yields anybody wins
	Pick   []Rule // whom a starter may choose
}

// RuleKind is the kind of an assignment rule.
type RuleKind string

// The kinds of assignment rules that are built.
const (
	RuleStarter      RuleKind = "starter"
	RuleUser         RuleKind = "user" // Arg is the user's name
	RuleTeam         RuleKind = "team" // Arg is the team's name
	RuleEveryone     RuleKind = "everyone"
	RuleRole         RuleKind = "role" // Arg is another role
	RuleStakeholders RuleKind = "stakeholders"
	RuleAdmins       RuleKind = "admins"
	RuleXattr        RuleKind = "xattr" // Arg is a key; its value a user's or team's name
)

// Rule yields parties for a role.
type Rule struct {
	Kind RuleKind
	Arg  string
}

// StateType is what a state means to people.
type StateType string

// The types of states. The last three are complete.
const (
	StateStart     StateType = "start"
	StateNormal    StateType = "normal"
	StateComplete  StateType = "complete"
	StateDenied    StateType = "denied"
	StateCancelled StateType = "cancelled"
)

// State is a status that a case can be in.
type State struct {
	Name     string
	Title    string
	Type     StateType
	Complete bool
}

// Trigger says who performs an action.
type Trigger string

// The triggers that are built.
const (
	TriggerUser Trigger = "user"
	TriggerInit Trigger = "init"
	TriggerAuto Trigger = "auto"
	TriggerTime Trigger = "time"
)

// Action is something that can be done to a case. In and EnabledIn are sets
// of states by index; To is the index of the new state, or NoState.
type Action struct {
	Name        string
	Title       string
	Past        string // what the log says
	Description string
	Trigger     Trigger
	In          StateSet
	EnabledIn   StateSet
	Always      bool
	Roles       []string  // roles it is assigned to, ORed
	Allowed     []Allowed // who else may perform it
	To          int
	Timeout     *clock.Duration // nil: none
}

// NoState is the index of no state.
const NoState = -1

// AllowedKind is the kind of a party that an action allows.
type AllowedKind string

// Whom an action can allow.
const (
	AllowedRole     AllowedKind = "role" // Name is a role of the route
	AllowedUser     AllowedKind = "user"
	AllowedTeam     AllowedKind = "team"
	AllowedEveryone AllowedKind = "everyone"
	AllowedReaders  AllowedKind = "readers" // whoever sees the case
)

// Allowed is a party that may perform an action without being its assignee.
type Allowed struct {
	Kind AllowedKind
	Name string
}

// StateSet is a set of states by index, as bits.
type StateSet []uint64

// Has reports whether the state is in the set.
func (s StateSet) Has(state int) bool {
	word := state >> 6
	return state >= 0 && word < len(s) && s[word]&(1<<(state&63)) != 0
}

// Add puts the state into the set.
func (s *StateSet) Add(state int) {
	for len(*s) <= state>>6 {
		*s = append(*s, 0)
	}
	(*s)[state>>6] |= 1 << (state & 63)
}

// State returns the index of the named state, or NoState.
func (r *Route) State(name string) int {
	for i := range r.States {
		if r.States[i].Name == name {
			return i
		}
	}
	return NoState
}

// Action returns the index of the named action, or -1.
func (r *Route) Action(name string) int {
	for i := range r.Actions {
		if r.Actions[i].Name == name {
			return i
		}
	}
	return -1
}

// Role returns the named role, or nil.
func (r *Route) Role(name string) *Role {
	for i := range r.Roles {
		if r.Roles[i].Name == name {
			return &r.Roles[i]
		}
	}
	return nil
}
