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
	if name := uses(reflect.ValueOf(query)); name != "" {
		return nil, &Fault{-1, fmt.Sprintf("cannot use %s: a filter sees only its input, $xattr and $case, so that it always yields the same", name)}
	}
	code, err := gojq.Compile(query, gojq.WithVariables(variables()), gojq.WithEnvironLoader(func() []string { return nil }))
	if err != nil {
		return nil, &Fault{-1, "is not a valid jq filter: " + err.Error()}
	}
	return code, nil
}

// uses returns the first refused name that is called anywhere in a part of a
// query, "" for none. It looks at every field of the syntax tree, so that no
// kind of expression can be forgotten. A filter's own function of such a name
// is refused with it.
func uses(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return ""
		}
		if f, ok := v.Interface().(*gojq.Func); ok && slices.Contains(refused(), f.Name) {
			return f.Name
		}
		return uses(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				if name := uses(v.Field(i)); name != "" {
					return name
				}
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if name := uses(v.Index(i)); name != "" {
				return name
			}
		}
	default: // names, numbers, operators
	}
	return ""
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
