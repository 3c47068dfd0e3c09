package expr

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

// Values are what an expression is evaluated over. A function is called only if
// the expression uses its variable. A nil function stands for no values.
type Values struct {
	Case     Case
	Xattrs   label.Dict
	Links    []Link // of the case to others
	Actor    string // "" for the engine
	Now      time.Time
	Message  func(label string) *document.Node // of JSON; nil: none
	TooLong  func(label string) bool           // reports whether there is a message that cannot be seen; nil: none
	Instead  func(label string) string         // what a message is that is not JSON, in words; "" for one that is, and for none; nil: none
	Input    string                            // the label of the input message
	Actions  int                               // how many actions the route has
	Action   func(i int) string                // their names, in order of definition
	Task     func(name string) (Task, bool)
	Children *Children                       // of the action that decides; nil: it has no children
	Timers   int                             // how many user-defined timers the route has
	TimerAt  func(i int) string              // their names, in order of definition
	Timer    func(name string) (Timer, bool) // of any timer
	Error    Error                           // what onError is run for; the zero value for nothing

	// Cost is what evaluations over these values have cost so far; with a
	// Budget they fail once it is used up.
	Cost, Budget uint64

	unread  []string                   // labels that the evaluation has looked up in vain
	objects map[*document.Node]ref.Val // those of messages that were made values
}

// Case is what an expression sees of its case.
type Case struct {
	ID      int64
	Title   string
	Status  string
	Starter string
	Created time.Time
	Version int64
}

// Link is what an expression sees of a relation to another case.
type Link struct {
	Relation string
	Case     int64
}

// Error is what an expression sees of a failure.
type Error struct {
	Step   string // the verb of the step
	Kind   string
	Status int64 // exit status, number of the signal or HTTP status, by the kind; else 0
	Text   string
	Output string // the end of what a command wrote
}

// Task is what an expression sees of an action and how it was performed.
type Task struct {
	Count      int64
	By         string    // who performed it last
	At         time.Time // when, zero for never
	Resolution string
	Output     string
	State      string // of its enablement, "" for none
}

// Timer is what an expression sees of a timer.
type Timer struct {
	Expired bool
	Enabled bool      // it runs, or will when its case is resumed
	Date    time.Time // when it expires, zero for never
	Limit   string    // as its form writes it, "" for none
}

// activation answers for the variables of an expression, each only when it
// is asked for.
type activation struct {
	values *Values
}

// Parent returns nil: there are no other variables.
func (a *activation) Parent() interpreter.Activation { return nil }

// ResolveName returns the value of a variable.
func (a *activation) ResolveName(name string) (any, bool) {
	v := a.values
	switch name {
	case "case":
		return record{&caseKind, v.Case}, true
	case "xattr":
		return xattrTable(v.Xattrs), true
	case "links":
		return tableOf(v.Links, func(l Link) string { return l.Relation }, func(l Link) ref.Val { return types.Int(l.Case) }), true
	case "input":
		if v.Message == nil {
			return types.NullValue, true
		}
		return v.messageValue(v.Input), true
	case "message":
		return v.messages(), true
	case "actor":
		return types.String(v.Actor), true
	case "now":
		return types.Timestamp{Time: v.Now}, true
	case "timers":
		return v.timers(), true
	case "tasks":
		return v.tasks(), true
	case "children":
		return v.Children.list(), true
	case "error":
		return record{&errorKind, v.Error}, true
	case "tally":
		return v.Children.tally(), true
	}
	return nil, false
}

func xattrTable(dict label.Dict) ref.Val {
	return tableOf(dict, func(e label.XAttr) string { return e.Key }, func(e label.XAttr) ref.Val { return xattrValue(e.Value) })
}

// messages answers for single labels; expressions that would need the list
// of them are refused when they are compiled.
func (v *Values) messages() ref.Val {
	return &table{
		key: func(int) string { return "" },
		find: func(key string) (ref.Val, bool) {
			if v.Message == nil {
				return nil, false
			}
			value := v.messageValue(key)
			if value == types.NullValue {
				v.unread = append(v.unread, key)
			}
			return value, value != types.NullValue
		},
	}
}

// messageValue returns a message, null if there is none or it is not JSON. One that
// is too long is an error: null could be decided on.
func (v *Values) messageValue(label string) ref.Val {
	n := v.Message(label)
	if n == nil && v.TooLong != nil && v.TooLong(label) {
		return types.NewErr("the message %q is too long for expressions", label)
	}
	return v.json(n)
}

// explained says of a message that is there and is not JSON that it is not: an expression
// sees none, and would only say that there is no such key.
func (v *Values) explained(err error) error {
	label, missing := strings.CutPrefix(err.Error(), "no such key: ")
	if !missing || v.Instead == nil || !slices.Contains(v.unread, label) {
		return err
	}
	if instead := v.Instead(label); instead != "" {
		return fmt.Errorf("the message %q is not JSON, but %s", label, instead)
	}
	return err
}

func (v *Values) tasks() ref.Val {
	return &table{
		size: v.Actions,
		key:  v.Action,
		find: func(key string) (ref.Val, bool) {
			if v.Task == nil {
				return nil, false
			}
			t, ok := v.Task(key)
			return record{&taskKind, t}, ok
		},
	}
}

// timers answers for every timer that is named; its keys are the user-defined
// ones.
func (v *Values) timers() ref.Val {
	return &table{
		size: v.Timers,
		key:  v.TimerAt,
		find: func(key string) (ref.Val, bool) {
			if v.Timer == nil {
				return nil, false
			}
			t, ok := v.Timer(key)
			return record{&timerKind, t}, ok
		},
	}
}
