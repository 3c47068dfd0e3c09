// Package route holds workflow definitions: it reads a route document, JSON or
// YAML, into a compiled Route, with every fault and warning. It does not run
// anything and does not look up users or teams.
package route

import (
	"time"

	"flowdrive/internal/clock"
	"flowdrive/route/expr"
)

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
	Priority    int             // of its cases; DefaultPriority if the document has none
	Group       string          // its cases start one at a time; "" for none
	Output      string          // label of the message shown as output, "" for the default
	Retention   *clock.Duration // how long ended cases stay listed; nil: for ever
	Then        Then            // what becomes of them after that
	Timeout     *clock.Duration // from start to completion; nil: none
	OnTimeout   []Step          // nil: a warning
	Remind      *clock.Duration // after which assignees are reminded of an open task, again and again; nil: never
	OnlyFailed  bool            // of how a case has ended only those who watch are told, unless it has failed
	Timers      []Timer         // user-defined ones
	Roles       []Role
	States      []State
	Actions     []Action
	Transitions []Transition
	Xattrs      []Xattr   // declared ones
	Messages    []Message // declared ones
	SideEffects []Step    // after every performance
	OnError     *OnError  // what is done if something fails whose action says nothing of that; nil: nothing
	Start       int       // index of the start state in States; NoState in the dependency model
	Init        int       // index of the init action in Actions; NoAction in a dependency model without one

	actionAt  map[string]int // indices of Actions by name; nil: they are looked for, as few are faster
	mentioned []string       // keys of XATTRs that the texts of the document name, in order
	parties   []Party
	started   []Party // routes that steps start cases of
	reaches   []Reach // what is outside
}

// OnError is what is done if the engine could not do something: a delivery has
// failed for good, or an action is escalated (docs/contract/routes.md#what-fails).
type OnError struct {
	Steps []Step
	To    int // the state that the case enters then, or NoState
}

// Then says what becomes of ended cases after their retention.
type Then string

// What can become of them.
const (
	ThenArchive Then = "archive"
	ThenDelete  Then = "delete"
)

// DefaultRetention is how long ended cases stay listed whose route does not
// say.
const DefaultRetention = 15 * 24 * time.Hour

// DefaultPriority is the priority of cases whose route names none.
const DefaultPriority = 200

// Access names the users and teams, or "everyone", that may start, read and
// administer. A nil list is absent from the document and stands for the owner
// context. An empty list stands for no one.
type Access struct {
	Start []string
	Read  []string
	Admin []string
}

// Role is a part that people play in a case.
type Role struct {
	Name   string
	Title  string
	Assign []Rule // tried in order; the first that yields a party is used
	Pick   []Rule // whom a starter may choose
}

// RuleKind is the kind of an assignment rule.
type RuleKind string

// The kinds of assignment rules.
const (
	RuleStarter      RuleKind = "starter"
	RuleUser         RuleKind = "user" // Arg is the user's name
	RuleTeam         RuleKind = "team" // Arg is the team's name
	RuleEveryone     RuleKind = "everyone"
	RuleRole         RuleKind = "role" // Arg is another role
	RuleStakeholders RuleKind = "stakeholders"
	RuleAdmins       RuleKind = "admins"
	RuleXattr        RuleKind = "xattr"  // Arg is a key; its value a user's or team's name
	RuleParent       RuleKind = "parent" // Arg is a role of the case that started this one as a child
	RuleCall         RuleKind = "call"   // Arg is a callback, which yields names of users and teams
)

// Rule yields parties for a role.
type Rule struct {
	Kind RuleKind
	Arg  string
}

// StateType is what a state means to people.
type StateType string

// The types of states. The last four are complete. A case in a state of the type
// failed has the life failed.
const (
	StateStart     StateType = "start"
	StateNormal    StateType = "normal"
	StateComplete  StateType = "complete"
	StateDenied    StateType = "denied"
	StateCancelled StateType = "cancelled"
	StateFailed    StateType = "failed"
)

// State is a status that a case can be in.
type State struct {
	Name     string
	Title    string
	Type     StateType
	Complete bool
	OnEnter  []Step
	Out      []int // transitions from it, by index in Route.Transitions

	Timeout   *clock.Duration // of a visit; nil: none
	OnTimeout []Step          // nil: a warning
}

// Timer is a user-defined timer of the cases (docs/contract/timers.md#kinds).
type Timer struct {
	Name     string
	Limit    *clock.Duration // nil: none, until one is set
	OnExpire []Step
}

// Trigger says who performs an action.
type Trigger string

// The triggers.
const (
	TriggerUser    Trigger = "user"
	TriggerInit    Trigger = "init"
	TriggerAuto    Trigger = "auto"
	TriggerTime    Trigger = "time"
	TriggerMessage Trigger = "message"
	TriggerChild   Trigger = "child" // when its children are finished; no document says so
)

// Action is something that can be done to a case. In and EnabledIn are sets
// of states by index; To is the index of the new state, or NoState. An action
// that transitions require is in their states.
type Action struct {
	Name        string
	Title       string
	Past        string // what the log says
	Description string
	Trigger     Trigger
	Message     string // label that it waits for
	Type        string // how it can be submitted, "" for only by name
	In          StateSet
	EnabledIn   StateSet
	Always      bool
	Roles       []string  // roles it is assigned to, ORed
	Need        *Need     // how many must perform it; nil: one
	Allowed     []Allowed // who else may perform it
	To          int
	Timeout     *clock.Duration // nil: none
	Decide      *expr.Program   // instead of To: yields the name of one of Outputs
	Outputs     []Output
	EnableIf    *expr.Program
	Guard       *expr.Program
	After       []After
	Max         int64 // in the life of a case, 0 for unlimited
	Choice      string
	Distinct    []int // actions whose performers may not perform this one
	Final       bool
	Form        *Form // of the XATTRs that a performer sends; nil: it takes none
	Resolutions []Resolution
	Transitions []int // that require it, by index in Route.Transitions
	OnEnable    []Step
	OnUnEnable  []Step
	OnFire      []Step
	SideEffects []Step
	OnError     *OnError // nil: that of the route

	// What makes it a task of people (docs/contract/engine.md#5-tasks).
	MustAccept     bool            // before it can be performed
	OfferTimeout   *clock.Duration // while it is offered; nil: none
	OnOfferTimeout []Step          // nil: a warning
	DueIn          *clock.Duration // from its first offer until it is performed; nil: none
	OnDue          []Step          // nil: a warning

	Child *Child // nil: none; else the engine performs it when its children are finished
}

// Each says how the parties of a role become children.
type Each string

// How children are made of the parties of a role
// (docs/contract/routes.md#4-child-cases).
const (
	PerRole   Each = "per_role"   // one child that has them all
	PerMember Each = "per_member" // one for each party
	PerUser   Each = "per_user"   // one for each person, once
)

// Child are the cases that an action starts when it is enabled, and waits
// for.
type Child struct {
	Route    string // its latest version, when they are created
	Roles    []ChildRole
	While    int           // status of the parent in the meantime, or NoState
	Complete *expr.Program // finishes the action early; nil: when all have
	Inherit  bool          // the parent's XATTRs
}

// ChildRole maps a role of the children.
type ChildRole struct {
	Role string // of the child's route
	From string // of the parent's
	Each Each
}

// Output is what a decision can yield, and the state that it leads to, or
// NoState.
type Output struct {
	Name string
	To   int
}

// After is what must have been performed before: an action, that often.
type After struct {
	Action int
	Min    int64
}

// Resolution is one of the ways in which an action can be resolved.
type Resolution struct {
	Name  string
	Title string
}

// Transition is a way from state to state that several actions open
// (docs/contract/routes.md#3-transitions-that-need-several-actions).
type Transition struct {
	Name     string
	From, To int
	Requires []int // actions
	OnFollow []Step
}

// NoState and NoAction are the indices of no state and no action.
const (
	NoState  = -1
	NoAction = -1
)

// AllowedKind is the kind of a party that an action allows.
type AllowedKind string

// Whom an action can allow.
const (
	AllowedRole     AllowedKind = "role" // Name is a role of the route
	AllowedUser     AllowedKind = "user"
	AllowedTeam     AllowedKind = "team"
	AllowedEveryone AllowedKind = "everyone"
	AllowedReaders  AllowedKind = "readers" // everyone who may see the case
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

// Action returns the index of the named action, or NoAction.
func (r *Route) Action(name string) int {
	if r.actionAt != nil {
		if i, known := r.actionAt[name]; known {
			return i
		}
		return NoAction
	}
	for i := range r.Actions {
		if r.Actions[i].Name == name {
			return i
		}
	}
	return NoAction
}

// findActions notes where the actions are if there are many: forms of tasks and worklists
// look for each of a case.
func (r *Route) findActions() {
	const few = 16
	if len(r.Actions) <= few {
		return
	}
	r.actionAt = make(map[string]int, len(r.Actions))
	for i := range r.Actions {
		r.actionAt[r.Actions[i].Name] = i
	}
}

// Knows reports whether something can be performed by that name: an action, or
// all actions of a type (docs/contract/routes.md#submission-by-type).
func (r *Route) Knows(name string) bool {
	for i := range r.Actions {
		if r.Actions[i].Name == name || r.Actions[i].Type == name && name != "" {
			return true
		}
	}
	return false
}

// ActionNames returns the names of the actions, in order of definition.
func (r *Route) ActionNames() []string {
	names := make([]string, len(r.Actions))
	for i := range r.Actions {
		names[i] = r.Actions[i].Name
	}
	return names
}

// Output returns the state that an output of the action's decision leads to. ok
// is false if the action has no such output.
func (a *Action) Output(name string) (to int, ok bool) {
	for i := range a.Outputs {
		if a.Outputs[i].Name == name {
			return a.Outputs[i].To, true
		}
	}
	return NoState, false
}

// Xattr returns the declaration of the XATTR, or nil.
func (r *Route) Xattr(key string) *Xattr {
	for i := range r.Xattrs {
		if r.Xattrs[i].Key == key {
			return &r.Xattrs[i]
		}
	}
	return nil
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
