package expr

import (
	"reflect"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"flowdrive/label"
)

// Kids are what decide and complete of an action with children see of them
// (design: routes, section 5).
type Kids struct {
	Total, Open, Canceled int64
	Statuses              []Status // of completed ones
	Children              []Child  // where the expression uses them
}

// Status is how many children completed with a status.
type Status struct {
	Name  string
	Count int64
}

// Count adds to the children that completed with a status.
func (k *Kids) Count(status string, n int64) {
	for i := range k.Statuses {
		if k.Statuses[i].Name == status {
			k.Statuses[i].Count += n
			return
		}
	}
	k.Statuses = append(k.Statuses, Status{status, n})
}

// Child is what an expression sees of a child.
type Child struct {
	ID         int64
	State      string
	Status     string
	Resolution string
	Xattrs     label.Dict
	Roles      []Role
}

// Role is a role of a child with its players.
type Role struct {
	Name    string
	Parties []string
}

func (k *Kids) list() ref.Val {
	if k == nil {
		return types.NewErr("there are no children here")
	}
	list := make([]ref.Val, len(k.Children))
	for i := range k.Children {
		list[i] = k.Children[i]
	}
	return types.NewRefValList(types.DefaultTypeAdapter, list)
}

func (k *Kids) tally() ref.Val {
	if k == nil {
		return types.NewErr("there are no children here")
	}
	return tally{k}
}

func (c Child) field(name string) ref.Val {
	switch name {
	case "id":
		return types.Int(c.ID)
	case "state":
		return types.String(c.State)
	case "status":
		return types.String(c.Status)
	case "resolution":
		return types.String(c.Resolution)
	case "xattr":
		return xattrTable(c.Xattrs)
	case "roles":
		return &table{
			size: len(c.Roles),
			key:  func(i int) string { return c.Roles[i].Name },
			find: func(key string) (ref.Val, bool) {
				i := slices.IndexFunc(c.Roles, func(r Role) bool { return r.Name == key })
				if i < 0 {
					return nil, false
				}
				return types.NewStringList(types.DefaultTypeAdapter, c.Roles[i].Parties), true
			},
		}
	}
	return types.NewErr("no such field: %s", name)
}

// ConvertToNative fails: there is nothing else that a child could be.
func (c Child) ConvertToNative(to reflect.Type) (any, error) { return nil, noConversion(c, to) }

// ConvertToType fails but for the type itself.
func (c Child) ConvertToType(to ref.Type) ref.Val { return toType(c, to) }

// Equal compares with another child: a case is equal to itself.
func (c Child) Equal(other ref.Val) ref.Val {
	o, ok := other.(Child)
	return types.Bool(ok && o.ID == c.ID)
}

// Type returns the type.
func (c Child) Type() ref.Type { return childType }

// Value returns the child itself.
func (c Child) Value() any { return c }

// Get returns a field.
func (c Child) Get(index ref.Val) ref.Val { return fieldAt(c, index) }

// tally is how the children ended, as a value of CEL.
type tally struct{ *Kids }

func (t tally) field(name string) ref.Val {
	switch name {
	case "total":
		return types.Int(t.Total)
	case "open":
		return types.Int(t.Open)
	case "canceled":
		return types.Int(t.Canceled)
	case "status":
		return &table{
			size: len(t.Statuses),
			key:  func(i int) string { return t.Statuses[i].Name },
			find: func(key string) (ref.Val, bool) {
				i := slices.IndexFunc(t.Statuses, func(s Status) bool { return s.Name == key })
				if i < 0 {
					return nil, false
				}
				return types.Int(t.Statuses[i].Count), true
			},
		}
	}
	return types.NewErr("no such field: %s", name)
}

// ConvertToNative fails: there is nothing else that a tally could be.
func (t tally) ConvertToNative(to reflect.Type) (any, error) { return nil, noConversion(t, to) }

// ConvertToType fails but for the type itself.
func (t tally) ConvertToType(to ref.Type) ref.Val { return toType(t, to) }

// Equal compares with another tally: there is one in an evaluation.
func (t tally) Equal(other ref.Val) ref.Val {
	o, ok := other.(tally)
	return types.Bool(ok && o.Kids == t.Kids)
}

// Type returns the type.
func (t tally) Type() ref.Type { return tallyType }

// Value returns the tally itself.
func (t tally) Value() any { return t }

// Get returns a field.
func (t tally) Get(index ref.Val) ref.Val { return fieldAt(t, index) }
