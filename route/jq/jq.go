// Package jq checks and runs the jq filters of routes. A filter sees only its
// input and two variables: not the clock, the machine or a file. The cost of a
// filter is not limited here; see package jqworker.
package jq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/itchyny/gojq"
)

// MaxJSON bounds the input and the output of a filter, in bytes.
const MaxJSON = 1 << 20

// refused are the names that a filter cannot use: what they yield depends on
// the moment, the machine or the order of a map, or they end the program.
func refused() []string {
	return []string{
		"now", "localtime", "strflocaltime", "input", "inputs", "input_line_number", "input_filename", "debug", "stderr",
		"env", "$ENV", "$__loc__", "$__prog_args", "$__prog_name", "halt", "halt_error", "modulemeta", "get_search_list", "builtins",
	}
}

// variables are the names that a filter can use in addition to its input.
func variables() []string { return []string{"$xattr", "$case"} }

// Fault is what is wrong with a filter. Offset is the byte of the filter that
// the fault is at, or -1 if that is not known.
type Fault struct {
	Offset int
	Detail string
}

// Error implements error.
func (f *Fault) Error() string { return f.Detail }

// Check judges a filter before it is stored. Its error is a *Fault.
func Check(filter string) error {
	_, err := compile(filter)
	return err
}

func compile(filter string) (*gojq.Code, error) {
	query, err := gojq.Parse(filter)
	if at, ok := errors.AsType[*gojq.ParseError](err); ok {
		return nil, &Fault{at.Offset, "is not a valid jq filter: " + at.Error()}
	}
	if err != nil {
		return nil, &Fault{-1, "is not a valid jq filter: " + err.Error()}
	}
	if len(query.Imports) > 0 || query.Meta != nil {
		return nil, &Fault{-1, "cannot import modules: a filter sees only its input, $xattr and $case"}
	}
	if name := uses(query); name != "" {
		return nil, &Fault{-1, fmt.Sprintf("cannot use %s: a filter sees only its input, $xattr and $case, so that it always yields the same", name)}
	}
	code, err := gojq.Compile(query, gojq.WithVariables(variables()), gojq.WithEnvironLoader(func() []string { return nil }))
	if err != nil {
		return nil, &Fault{-1, "is not a valid jq filter: " + err.Error()}
	}
	return code, nil
}

// uses returns the first refused name that is called anywhere in a query, "" for
// none. A filter's own function of such a name is refused with it.
func uses(query *gojq.Query) (name string) {
	walk(reflect.ValueOf(query), func(part any) {
		if f, ok := part.(*gojq.Func); ok && name == "" && slices.Contains(refused(), f.Name) {
			name = f.Name
		}
	})
	return name
}

// walk calls visit with everything that a part of a query points to, before what
// is in it. It looks at every field of the syntax tree, so that no kind of
// expression can be forgotten.
func walk(v reflect.Value, visit func(part any)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit(v.Interface())
			walk(v.Elem(), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walk(v.Field(i), visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	default: // names, numbers, operators
	}
}

// Run applies a filter to a JSON text and returns the one value that it
// yields, as JSON. It may take any time and memory; what errs is for the
// author of the filter.
func Run(filter string, input, xattr, about []byte) ([]byte, error) {
	code, err := compile(filter)
	if err != nil {
		return nil, err
	}
	var values [3]any
	for i, text := range [][]byte{input, xattr, about} {
		if values[i], err = decode(text); err != nil {
			return nil, err
		}
	}
	results := code.Run(values[0], values[1:]...)
	value, ok := results.Next()
	if !ok {
		return nil, errors.New("the filter yields nothing; it must yield one value")
	}
	if err, failed := value.(error); failed {
		return nil, err
	}
	switch second, more := results.Next(); second := second.(type) {
	case error:
		return nil, second
	default:
		if more {
			return nil, errors.New("the filter yields several values; put it into [ ] to make them one")
		}
	}
	output, err := gojq.Marshal(value)
	if err == nil && len(output) > MaxJSON {
		err = fmt.Errorf("the filter yields more than %d bytes", MaxJSON)
	}
	return output, err
}

// decode reads one JSON value, its numbers as they are written.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("the input is not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the input is more than one JSON value")
	}
	return value, nil
}

// Xattrs returns the keys that a filter looks up in $xattr by their names, in
// order, each once. ok is false if the filter is not valid, or has a // that may
// stand in for one that is not there.
func Xattrs(filter string) (keys []string, ok bool) {
	query, err := gojq.Parse(filter)
	if err != nil {
		return nil, false
	}
	ok = true
	walk(reflect.ValueOf(query), func(part any) {
		switch p := part.(type) {
		case *gojq.Query:
			ok = ok && p.Op != gojq.OpAlt
		case *gojq.Term:
			if key := xattrOf(p); key != "" && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	})
	return keys, ok
}

// xattrOf returns the key that a term such as $xattr.amount looks up, "" for any
// other term.
func xattrOf(t *gojq.Term) string {
	if t.Func == nil || t.Func.Name != "$xattr" || len(t.SuffixList) == 0 || t.SuffixList[0].Index == nil {
		return ""
	}
	index := t.SuffixList[0].Index
	if index.Str != nil && len(index.Str.Queries) == 0 {
		return index.Str.Str
	}
	if key := index.Start; key != nil && !index.IsSlice && key.Term != nil && key.Term.Str != nil && len(key.Term.Str.Queries) == 0 && len(key.Term.SuffixList) == 0 {
		return key.Term.Str.Str
	}
	return index.Name // "" for slices and keys that are computed
}
