package route_test

import (
	"fmt"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/route"
)

// A route is read from YAML. If it is faulty the error has every fault, with
// its place in the document.
func ExampleParse() {
	const question = `
title: Question
roles: {helper: {assign: [starter]}}
states: {open: {type: start}, answered: {type: complete}}
actions:
  ask: {trigger: init}
  answer: {in: [open], role: helper, to: answered}
`
	for _, text := range []string{question, strings.ReplaceAll(question, "helper, to: answered", "helpr, to: anwered")} {
		node, err := document.ParseYAML([]byte(text))
		if err != nil {
			fmt.Println(err)
			continue
		}
		r, _, err := route.Parse("question", node)
		if err != nil {
			fmt.Println(err)
			continue
		}
		for _, a := range r.Actions {
			fmt.Println(r.Name, a.Name)
		}
	}
	// Output:
	// question ask
	// question answer
	// 7:30 /actions/answer/role: "helpr" is not a role of this route; did you mean "helper"? (and one more fault, see errors)
	//   7:30 /actions/answer/role: "helpr" is not a role of this route; did you mean "helper"?
	//   7:41 /actions/answer/to: "anwered" is not a state of this route; did you mean "answered"?
}
