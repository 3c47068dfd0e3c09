package machine_test

import (
	"fmt"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/route"
)

const holidayRoute = `
roles: {employee: {assign: [starter]}, manager: {assign: ["user:mia"]}}
states: {asked: {type: start}, granted: {type: complete}, refused: {type: denied}}
actions:
  ask: {trigger: init, past: Asked}
  grant: {in: [asked], role: manager, to: granted, past: Granted}
  refuse: {in: [asked], role: manager, to: refused, past: Refused}
`

// ExampleDecide takes a case from its creation to its end. Decide stores
// nothing: the caller keeps the case of each Output and passes it in again.
func ExampleDecide() {
	doc, err := document.ParseYAML([]byte(holidayRoute))
	if err != nil {
		fmt.Println(err)
		return
	}
	holiday, _, err := route.Parse("holiday", doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	in := machine.Input{
		Route: holiday,
		Case:  &machine.Case{ID: 17, RouteName: "holiday", RouteVersion: 1, Title: "A week in May", Starter: "sam", Context: "sam"},
		Now:   time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC),
	}
	mia := machine.Actor{Name: "mia", Contexts: []string{"mia"}}
	for _, event := range []machine.Event{
		machine.Create{},
		machine.Start{},
		machine.Perform{Action: "grant", Actor: mia, Comment: "Enjoy it."},
	} {
		in.Event = event
		out, needs, err := machine.Decide(in)
		for err == nil && out == nil {
			in.Facts = lookUp(in.Facts, needs) // and decide again from the beginning
			out, needs, err = machine.Decide(in)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s, status %q\n%s", out.Case.Life, out.Case.Status, machine.LogText(out.Log))
		in.Case, in.Now = out.Case, in.Now.Add(time.Hour)
	}
	// Output:
	// queued, status ""
	// 2026-04-01T09:00:00Z sam Created (→ queued)
	// active, status "asked"
	// 2026-04-01T10:00:00Z sam Asked (→ asked)
	// completed, status "granted"
	// 2026-04-01T11:00:00Z mia Granted (asked → granted): Enjoy it.
	// 2026-04-01T11:00:00Z mia Completed (active → completed)
}

// lookUp finds the facts that a decision needs. This route asks only whom names
// stand for; here everyone is a user.
func lookUp(facts machine.Facts, needs []machine.Need) machine.Facts {
	if facts.Parties == nil {
		facts.Parties = map[string]machine.PartyKind{}
	}
	for _, need := range needs {
		facts.Parties[need.Party] = machine.UserParty
	}
	return facts
}
