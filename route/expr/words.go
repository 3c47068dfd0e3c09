package expr

import (
	"maps"
	"regexp"
	"slices"
)

// ofKind names the kinds as expressions reach them: tasks is a map of them, children a list.
func ofKind() map[string]*kind {
	return map[string]*kind{"case": &caseKind, "tasks": &taskKind, "timers": &timerKind, "children": &childKind, "tally": &tallyKind, "error": &errorKind}
}

// word matches the name of a function that is not an operator.
var word = regexp.MustCompile(`^[a-zA-Z]\w*$`)

// Words returns the words of the language, for its manual: variables, the fields of those
// that have some, such as "case.id" and "tasks.by", functions and macros.
func Words() []string {
	words := map[string]bool{}
	env := environment()
	for _, v := range env.Variables() {
		if word.MatchString(v.Name()) {
			words[v.Name()] = true
		}
	}
	for name, k := range ofKind() {
		for field := range k.fields {
			words[name+"."+field] = true
		}
	}
	for name := range env.Functions() {
		if word.MatchString(name) {
			words[name] = true
		}
	}
	for _, m := range env.Macros() {
		words[m.Function()] = true
	}
	return slices.Sorted(maps.Keys(words))
}
