package expr

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// record is a value of CEL that has the fields of its kind and nothing else.
// Records are equal if what they are of is.
type record struct {
	kind *kind
	of   any // can be compared
}

func noConversion(v ref.Val, to any) error {
	return fmt.Errorf("a %s cannot be made a %v", v.Type().TypeName(), to)
}

// ConvertToNative fails: there is nothing else that a record could be.
func (r record) ConvertToNative(to reflect.Type) (any, error) { return nil, noConversion(r, to) }

// ConvertToType fails, except for the type itself.
func (r record) ConvertToType(to ref.Type) ref.Val {
	switch to {
	case r.Type():
		return r
	case types.TypeType:
		return r.kind.Type
	}
	return types.NewErr("%s", noConversion(r, to.TypeName()).Error())
}

// Equal compares with another record.
func (r record) Equal(other ref.Val) ref.Val {
	o, ok := other.(record)
	return types.Bool(ok && o == r)
}

// Type returns the type.
func (r record) Type() ref.Type { return r.kind.Type }

// Value returns the record itself.
func (r record) Value() any { return r }

// Get returns a field.
func (r record) Get(index ref.Val) ref.Val {
	name, ok := index.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(index)
	}
	return r.field(string(name))
}

func (r record) field(name string) ref.Val {
	property, ok := r.kind.fields[name]
	if !ok {
		return types.NewErr("no such field: %s", name)
	}
	return property.get(r.of)
}

// table is a map from texts that keeps its order, so that nothing an
// expression does with it depends on chance.
type table struct {
	size int
	key  func(i int) string
	find func(key string) (ref.Val, bool)
}

// fewItems is how many a search goes through in the time that an index takes.
const fewItems = 16

// tableOf is a table of the items by their names.
func tableOf[T any](items []T, name func(T) string, value func(T) ref.Val) *table {
	var index map[string]int
	place := func(key string) int {
		if len(items) <= fewItems {
			return slices.IndexFunc(items, func(item T) bool { return name(item) == key })
		}
		if index == nil {
			index = make(map[string]int, len(items))
			for i := len(items) - 1; i >= 0; i-- { // the first of a name counts
				index[name(items[i])] = i
			}
		}
		if i, ok := index[key]; ok {
			return i
		}
		return -1
	}
	return &table{
		size: len(items),
		key:  func(i int) string { return name(items[i]) },
		find: func(key string) (ref.Val, bool) {
			i := place(key)
			if i < 0 {
				return nil, false
			}
			return value(items[i]), true
		},
	}
}

// ConvertToNative fails: tables are looked into, not handed out.
func (t *table) ConvertToNative(to reflect.Type) (any, error) { return nil, noConversion(t, to) }

// ConvertToType fails, except for maps.
func (t *table) ConvertToType(to ref.Type) ref.Val {
	switch to {
	case types.MapType:
		return t
	case types.TypeType:
		return types.MapType
	}
	return types.NewErr("%s", noConversion(t, to.TypeName()).Error())
}

// Equal compares with another map, in any order.
func (t *table) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Mapper)
	if !ok || o.Size() != t.Size() {
		return types.False
	}
	for i := range t.size {
		key := types.String(t.key(i))
		mine, _ := t.Find(key)
		theirs, found := o.Find(key)
		if !found || types.Equal(mine, theirs) != types.True {
			return types.False
		}
	}
	return types.True
}

// Type returns the type of maps.
func (t *table) Type() ref.Type { return types.MapType }

// Value returns the table itself.
func (t *table) Value() any { return t }

// Contains reports whether there is the key.
func (t *table) Contains(key ref.Val) ref.Val {
	v, found := t.Find(key)
	if v != nil && types.IsUnknownOrError(v) && !found {
		return v
	}
	return types.Bool(found)
}

// Get returns the value of the key.
func (t *table) Get(key ref.Val) ref.Val {
	v, found := t.Find(key)
	if !found {
		return types.ValOrErr(v, "no such key: %v", key)
	}
	return v
}

// Find returns the value of the key, if there is one.
func (t *table) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), false
	}
	return t.find(string(name))
}

// Size returns the number of keys.
func (t *table) Size() ref.Val { return types.Int(t.size) }

// Iterator visits the keys in order.
func (t *table) Iterator() traits.Iterator {
	return &keys{size: t.size, key: func(i int) ref.Val { return types.String(t.key(i)) }}
}

// keys visits the keys of a map.
type keys struct {
	ref.Val
	at, size int
	key      func(i int) ref.Val
}

// HasNext reports whether there is another key.
func (k *keys) HasNext() ref.Val { return types.Bool(k.at < k.size) }

// Next returns the next key.
func (k *keys) Next() ref.Val {
	if k.at >= k.size {
		return nil
	}
	k.at++
	return k.key(k.at - 1)
}

// ordered makes the maps that an expression writes out visit their keys in
// order; CEL leaves that to chance, and equal inputs would give unequal
// outputs.
func ordered(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	if c, ok := i.(interpreter.InterpretableConstructor); ok && c.Type() == types.MapType {
		return &orderedMap{c}, nil
	}
	return i, nil
}

type orderedMap struct {
	interpreter.InterpretableConstructor
}

// Eval makes the map.
func (o *orderedMap) Eval(vars interpreter.Activation) ref.Val {
	return inOrder(o.InterpretableConstructor.Eval(vars))
}

// Exec makes the map.
func (o *orderedMap) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return inOrder(o.InterpretableConstructor.Exec(frame))
}

func inOrder(v ref.Val) ref.Val {
	m, ok := v.(traits.Mapper)
	if !ok {
		return v
	}
	return &sortedMap{Mapper: m}
}

// sortedMap is a map of CEL's own with its keys sorted.
type sortedMap struct{ traits.Mapper }

// Iterator visits the keys, sorted by type and then by value.
func (s *sortedMap) Iterator() traits.Iterator {
	var all []ref.Val
	for it := s.Mapper.Iterator(); it.HasNext() == types.True; {
		all = append(all, it.Next())
	}
	slices.SortFunc(all, func(a, b ref.Val) int {
		return cmp.Or(cmp.Compare(a.Type().TypeName(), b.Type().TypeName()), cmp.Compare(fmt.Sprint(a.Value()), fmt.Sprint(b.Value())))
	})
	return &keys{size: len(all), key: func(i int) ref.Val { return all[i] }}
}
