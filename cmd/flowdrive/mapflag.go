package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"flowdrive/cmd/flowdrive/output"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// mapFlag is a flag whose value is a map, or a list of maps: a key with further keys
// in the configuration file, or a text in YAML.
type mapFlag struct {
	node   *document.Node // nil: not given
	file   string         // in which it stands, "" for none
	secret bool
	list   bool
}

// Set reads a text in YAML.
func (m *mapFlag) Set(text string) error {
	node, err := document.ParseYAML([]byte(text))
	if err != nil {
		return errors.New("the value is not YAML") // the value may contain secrets
	}
	return m.take(node, "")
}

// take takes a value of the configuration file.
func (m *mapFlag) take(node *document.Node, file string) error {
	switch {
	case node.Kind == document.Null:
	case m.list && node.Kind != document.List:
		return fmt.Errorf("must be a list, not %s", node.Kind)
	case !m.list && node.Kind != document.Object:
		return fmt.Errorf("must be keys with values, not %s", node.Kind)
	}
	m.node, m.file = node, file
	return nil
}

// String returns nothing: the value is not for the help.
func (m *mapFlag) String() string { return "" }

// Type names the kind of value in the help.
func (m *mapFlag) Type() string {
	if m.list {
		return "list"
	}
	return "map"
}

func (m *mapFlag) isSecret() bool { return m.secret }

// readMap reads each value of the map. All faults are in one error, each with
// its place. The values that have none are returned with it, so that what else is
// wrong with them can be said in the same answer.
func readMap[T any](m *mapFlag, flag string, one func(document.Value) T) (map[string]T, error) {
	if m.node == nil || m.node.Kind == document.Null {
		return nil, nil
	}
	var faults document.Faults
	root := document.Value{Node: m.node, Pointer: document.Pointer("", flag), Faults: &faults}
	values := make(map[string]T, len(m.node.Members))
	for i := range m.node.Members {
		name, value := root.Member(i)
		before := len(faults.List())
		if read := one(value); len(faults.List()) == before {
			values[name] = read
		}
	}
	return values, m.wrong(flag, &faults)
}

// readList reads each item of the list. All faults are in one error, each with its
// place.
func readList[T any](m *mapFlag, flag string, one func(document.Value) T) ([]T, error) {
	if m.node == nil || m.node.Kind == document.Null {
		return nil, nil
	}
	var faults document.Faults
	root := document.Value{Node: m.node, Pointer: document.Pointer("", flag), Faults: &faults}
	values := make([]T, len(m.node.Items))
	for i := range m.node.Items {
		values[i] = one(root.Item(i))
	}
	if err := m.wrong(flag, &faults); err != nil {
		return nil, err
	}
	return values, nil
}

// wrong returns the faults as an error, nil for none.
func (m *mapFlag) wrong(flag string, faults *document.Faults) error {
	err := faults.Err()
	if err == nil {
		return nil
	}
	place := m.file
	if place == "" {
		place = "--" + flag
	}
	return configError{errors.New(strings.Join(output.FaultLines(place, err), "\n"))}
}

// secretFlag is a flag whose value is never shown.
type secretFlag struct{ text string }

// Set takes the value.
func (s *secretFlag) Set(text string) error {
	s.text = text
	return nil
}

// String returns nothing.
func (s *secretFlag) String() string { return "" }

// Type names the kind of value in the help.
func (s *secretFlag) Type() string { return "secret" }

func (s *secretFlag) isSecret() bool { return true }

// readSecret reads a text, or {file: PATH} for what is in a file.
func readSecret(v document.Value) string {
	if v.Node == nil || v.Node.Kind != document.Object {
		text, _ := v.Str()
		return text
	}
	v.Only("file")
	return readFileAt(v.Get("file"))
}

// readFileAt returns what is in the file whose path stands there.
func readFileAt(at document.Value) string {
	path, ok := at.Str()
	if !ok {
		return ""
	}
	text, err := readSecretFile(path)
	if err != nil {
		at.Fail(errs.CodeNotFound, "%v", err)
	}
	return text
}

// readSecretFile returns what is in the file, without the line break that
// editors leave at its end.
func readSecretFile(path string) (string, error) {
	text, err := os.ReadFile(path)
	return strings.TrimRight(string(text), "\r\n"), err
}
