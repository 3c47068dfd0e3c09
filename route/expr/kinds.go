package expr

import (
	"maps"
	"slices"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// kind is a type that variables have in addition to those of CEL: a name, and
// fields that are only read.
type kind struct {
	*types.Type
	fields map[string]property
}

// property is a field: of what type it is, and its value of a record of the
// kind.
type property struct {
	of  *types.Type
	get func(of any) ref.Val
}

// from makes a property of a function of the Go type behind a kind.
func from[T any](of *types.Type, get func(T) ref.Val) property {
	return property{of, func(of any) ref.Val {
		t, ok := of.(T)
		if !ok {
			return types.NewErr("%T is not what a record is of", of)
		}
		return get(t)
	}}
}

func text[T any](get func(T) string) property {
	return from(cel.StringType, func(t T) ref.Val { return types.String(get(t)) })
}

// textOrNull is null for an empty text.
func textOrNull[T any](get func(T) string) property {
	return from(cel.NullableType(cel.StringType), func(t T) ref.Val {
		if s := get(t); s != "" {
			return types.String(s)
		}
		return types.NullValue
	})
}

func whole[T any](get func(T) int64) property {
	return from(cel.IntType, func(t T) ref.Val { return types.Int(get(t)) })
}

func truth[T any](get func(T) bool) property {
	return from(cel.BoolType, func(t T) ref.Val { return types.Bool(get(t)) })
}

// instantOf is null for the zero time.
func instantOf[T any](get func(T) time.Time) property {
	return from(cel.TimestampType, func(t T) ref.Val {
		if at := get(t); !at.IsZero() {
			return types.Timestamp{Time: at}
		}
		return types.NullValue
	})
}

var (
	caseKind = kind{cel.ObjectType("case"), map[string]property{
		"id":      whole(func(c Case) int64 { return c.ID }),
		"title":   text(func(c Case) string { return c.Title }),
		"status":  text(func(c Case) string { return c.Status }),
		"starter": text(func(c Case) string { return c.Starter }),
		"created": instantOf(func(c Case) time.Time { return c.Created }),
		"version": whole(func(c Case) int64 { return c.Version }),
	}}
	taskKind = kind{cel.ObjectType("task"), map[string]property{
		"count":      whole(func(t Task) int64 { return t.Count }),
		"by":         text(func(t Task) string { return t.By }),
		"at":         instantOf(func(t Task) time.Time { return t.At }),
		"resolution": text(func(t Task) string { return t.Resolution }),
		"output":     text(func(t Task) string { return t.Output }),
		"state":      text(func(t Task) string { return t.State }),
	}}
	timerKind = kind{cel.ObjectType("timer"), map[string]property{
		"expired": truth(func(t Timer) bool { return t.Expired }),
		"enabled": truth(func(t Timer) bool { return t.Enabled }),
		"date":    instantOf(func(t Timer) time.Time { return t.Date }),
		"limit":   textOrNull(func(t Timer) string { return t.Limit }),
	}}
	childKind = kind{cel.ObjectType("child"), map[string]property{
		"id":         whole(func(c *Child) int64 { return c.ID }),
		"state":      text(func(c *Child) string { return c.State }),
		"status":     text(func(c *Child) string { return c.Status }),
		"resolution": text(func(c *Child) string { return c.Resolution }),
		"xattr":      from(cel.MapType(cel.StringType, cel.DynType), func(c *Child) ref.Val { return xattrTable(c.Xattrs) }),
		"roles":      from(cel.MapType(cel.StringType, cel.ListType(cel.StringType)), (*Child).roles),
	}}
	errorKind = kind{cel.ObjectType("error"), map[string]property{
		"step":   text(func(e Error) string { return e.Step }),
		"kind":   text(func(e Error) string { return e.Kind }),
		"status": whole(func(e Error) int64 { return e.Status }),
		"text":   text(func(e Error) string { return e.Text }),
		"output": text(func(e Error) string { return e.Output }),
	}}
	tallyKind = kind{cel.ObjectType("tally"), map[string]property{
		"total":    whole(func(k *Children) int64 { return k.Total }),
		"open":     whole(func(k *Children) int64 { return k.Open }),
		"canceled": whole(func(k *Children) int64 { return k.Canceled }),
		"status":   from(cel.MapType(cel.StringType, cel.IntType), (*Children).statuses),
	}}
)

// kindNamed returns the kind of that name, nil if it is a type of CEL.
func kindNamed(name string) *kind {
	for _, k := range [...]*kind{&caseKind, &taskKind, &timerKind, &childKind, &tallyKind, &errorKind} {
		if k.TypeName() == name {
			return k
		}
	}
	return nil
}

// provider knows the kinds in addition to the types of CEL.
type provider struct{ *types.Registry }

// FindStructType returns the type of that name.
func (p provider) FindStructType(name string) (*types.Type, bool) {
	if k := kindNamed(name); k != nil {
		return types.NewTypeTypeWithParam(k.Type), true
	}
	return p.Registry.FindStructType(name)
}

// FindStructFieldType returns the type of a field and how to get it.
func (p provider) FindStructFieldType(of, name string) (*types.FieldType, bool) {
	k := kindNamed(of)
	if k == nil {
		return p.Registry.FindStructFieldType(of, name)
	}
	property, ok := k.fields[name]
	if !ok {
		return nil, false
	}
	get := func(target any) ref.Val {
		if r, ok := target.(record); ok {
			return r.field(name)
		}
		return types.NewErr("no such field: %s", name)
	}
	return &types.FieldType{
		Type:  property.of,
		IsSet: func(target any) bool { return !types.IsUnknownOrError(get(target)) },
		GetFrom: func(target any) (any, error) {
			v := get(target)
			if err, bad := v.(*types.Err); bad {
				return nil, err
			}
			return v, nil
		},
	}, true
}

// FindStructFieldNames returns the names of a type's fields.
func (p provider) FindStructFieldNames(of string) ([]string, bool) {
	if k := kindNamed(of); k != nil {
		return slices.Sorted(maps.Keys(k.fields)), true
	}
	return p.Registry.FindStructFieldNames(of)
}
