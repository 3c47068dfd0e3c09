package expr

import (
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
		list[i] = record{&childKind, &k.List[i]}
	}
	return types.NewRefValList(types.DefaultTypeAdapter, list)
}

func (k *Children) tally() ref.Val {
	if k == nil {
		return types.NewErr("there are no children here")
	}
	return record{&tallyKind, k}
}

func (c *Child) roles() ref.Val {
	return tableOf(c.Roles, func(r Role) string { return r.Name }, func(r Role) ref.Val {
		return types.NewStringList(types.DefaultTypeAdapter, r.Parties)
	})
}

func (k *Children) statuses() ref.Val {
	return tableOf(k.Statuses, func(s Status) string { return s.Name }, func(s Status) ref.Val { return types.Int(s.Count) })
}
