package expr

import (
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"flowdrive/internal/label"
)

// Children are what decide and complete of an action with children see of them
// (docs/contract/routes.md#expressions).
type Children struct {
	Total, Open, Canceled int64
	Statuses              []Status // of completed ones
	List                  []Child  // if the expression uses them
}

// Status is how many children completed with a status.
type Status struct {
	Name  string
	Count int64
}

// Count adds to the children that completed with a status.
func (k *Children) Count(status string, n int64) {
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

func (k *Children) list() ref.Val {
	if k == nil {
		return types.NewErr("there are no children here")
	}
	list := make([]ref.Val, len(k.List))
	for i := range k.List {
		list[i] = record{k.List[i]}
	}
	return types.NewRefValList(types.DefaultTypeAdapter, list)
}

func (k *Children) tally() ref.Val {
	if k == nil {
		return types.NewErr("there are no children here")
	}
	return record{tally{k}}
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

func (c Child) kind() *types.Type { return childType }

func (c Child) key() any { return c.ID } // a case is equal to itself

// tally is how the children ended, as a value of CEL.
type tally struct{ *Children }

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

func (t tally) kind() *types.Type { return tallyType }

func (t tally) key() any { return t.Children } // there is one in an evaluation
