package expr

import (
	"time"

	"cel.dev/cel-go/cel"
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
	Actor    string // "" for the engine
	Now      time.Time
	Message  func(label string) *document.Node // of JSON; nil: none
	Input    string                            // the label of the input message
	Actions  int                               // how many actions the route has
	Action   func(i int) string                // their names, in order of definition
	Task     func(name string) (Task, bool)
	Children *Children                       // of the action that decides; nil: it has no children
	Timers   int                             // how many user-defined timers the route has
	TimerAt  func(i int) string              // their names, in order of definition
	Timer    func(name string) (Timer, bool) // of any timer

	// Cost is what evaluations over these values have cost so far; with a
	// Budget they fail once it is used up.
	Cost, Budget uint64
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
		return record{v.Case}, true
	case "xattr":
		return v.xattrs(), true
	case "input":
		if v.Message == nil {
			return types.NullValue, true
		}
		return jsonValue(v.Message(v.Input)), true
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
	case "tally":
		return v.Children.tally(), true
	}
	return nil, false
}

func (v *Values) xattrs() ref.Val { return xattrTable(v.Xattrs) }

func xattrTable(dict label.Dict) ref.Val {
	return &table{
		size: len(dict),
		key:  func(i int) string { return dict[i].Key },
		find: func(key string) (ref.Val, bool) {
			value, ok := dict.Get(key)
			if !ok {
				return nil, false
			}
			return xattrValue(value), true
		},
	}
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
			n := v.Message(key)
			return jsonValue(n), n != nil
		},
	}
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
			return record{t}, ok
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
			return record{t}, ok
		},
	}
}

// The types that variables have in addition to those of CEL.
var (
	caseType  = cel.ObjectType("case")
	timerType = cel.ObjectType("timer")
	taskType  = cel.ObjectType("task")
	childType = cel.ObjectType("child")
	tallyType = cel.ObjectType("tally")
)

// fields are the fields of these types with theirs.
func fields(of string) map[string]*types.Type {
	switch of {
	case "case":
		return map[string]*types.Type{
			"id": cel.IntType, "title": cel.StringType, "status": cel.StringType, "starter": cel.StringType,
			"created": cel.TimestampType, "version": cel.IntType,
		}
	case "timer":
		return map[string]*types.Type{"expired": cel.BoolType, "enabled": cel.BoolType, "date": cel.TimestampType}
	case "task":
		return map[string]*types.Type{
			"count": cel.IntType, "by": cel.StringType, "at": cel.TimestampType, "resolution": cel.StringType,
			"output": cel.StringType, "state": cel.StringType,
		}
	case "child":
		return map[string]*types.Type{
			"id": cel.IntType, "state": cel.StringType, "status": cel.StringType, "resolution": cel.StringType,
			"xattr": cel.MapType(cel.StringType, cel.DynType), "roles": cel.MapType(cel.StringType, cel.ListType(cel.StringType)),
		}
	case "tally":
		return map[string]*types.Type{
			"status": cel.MapType(cel.StringType, cel.IntType), "total": cel.IntType, "open": cel.IntType, "canceled": cel.IntType,
		}
	}
	return nil
}

func (c Case) kind() *types.Type { return caseType }

func (c Case) key() any { return c }

func (c Case) field(name string) ref.Val {
	switch name {
	case "id":
		return types.Int(c.ID)
	case "title":
		return types.String(c.Title)
	case "status":
		return types.String(c.Status)
	case "starter":
		return types.String(c.Starter)
	case "created":
		return moment(c.Created)
	case "version":
		return types.Int(c.Version)
	}
	return types.NewErr("no such field: %s", name)
}

func (t Task) kind() *types.Type { return taskType }

func (t Task) key() any { return t }

func (t Task) field(name string) ref.Val {
	switch name {
	case "count":
		return types.Int(t.Count)
	case "by":
		return types.String(t.By)
	case "at":
		return moment(t.At)
	case "resolution":
		return types.String(t.Resolution)
	case "output":
		return types.String(t.Output)
	case "state":
		return types.String(t.State)
	}
	return types.NewErr("no such field: %s", name)
}

func (t Timer) kind() *types.Type { return timerType }

func (t Timer) key() any { return t }

func (t Timer) field(name string) ref.Val {
	switch name {
	case "expired":
		return types.Bool(t.Expired)
	case "enabled":
		return types.Bool(t.Enabled)
	case "date":
		return moment(t.Date)
	}
	return types.NewErr("no such field: %s", name)
}

// moment returns the instant, or null for the zero time.
func moment(t time.Time) ref.Val {
	if t.IsZero() {
		return types.NullValue
	}
	return types.Timestamp{Time: t}
}
