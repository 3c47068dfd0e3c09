package outbox

import (
	"fmt"
	"slices"
	"strings"

	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/route"
	"flowdrive/store"
)

// Reach says what can be reached outside the server.
type Reach struct {
	Outside   Outside
	Callbacks Callbacks
	IsUsers   func(address string) bool // whether an e-mail address is a user's

	// AuthorOf returns who answers for the secrets that the steps of a case use.
	AuthorOf func(r store.Reader, caseID int64) (*Author, error)
}

// Check judges what a route names that is outside: hosts, addresses,
// commands and callbacks (docs/contract/routes.md#reaching-outside).
func (e *Reach) Check(reaches []route.Reach) (faults []errs.Fault) {
	faults, _ = e.judge(nil, reaches)
	return faults
}

// Warn judges the secrets that a route of that author names. One that is not set yet, or
// that the author may not use, can be set or allowed later, which changes no route, so that
// it is a warning.
func (e *Reach) Warn(by *Author, reaches []route.Reach) (warnings []errs.Fault) {
	_, warnings = e.judge(by, reaches)
	return warnings
}

func (e *Reach) judge(by *Author, reaches []route.Reach) (faults, warnings []errs.Fault) {
	for _, reach := range reaches {
		detail, code := e.refuses(by, reach)
		fault := errs.Fault{Pointer: reach.Pointer, Code: code, Detail: detail, Line: reach.Line, Column: reach.Column}
		switch {
		case detail == "":
		case reach.Kind.OfSecret():
			warnings = append(warnings, fault)
		default:
			faults = append(faults, fault)
		}
	}
	return faults, warnings
}

// refuses says why something outside cannot be reached; it returns "" if it can
// be.
func (e *Reach) refuses(by *Author, reach route.Reach) (detail string, code errs.Code) {
	switch reach.Kind {
	case route.ReachURL:
		return e.Outside.RefusesURL(reach.Name), errs.CodeRange
	case route.ReachAddress:
		if e.IsUsers(reach.Name) {
			return "", ""
		}
		return e.Outside.RefusesAddress(reach.Name), errs.CodeRange
	case route.ReachCommand:
		return e.Outside.RefusesCommand(reach.Name), errs.CodeNotFound
	case route.ReachSecret, route.ReachSecretURL, route.ReachSecretMail, route.ReachSecretText, route.ReachSecretBody:
		return e.Outside.RefusesSecret(by, reach.Kind, reach.Name), errs.CodeNotFound
	case route.ReachCallback:
		if !e.Callbacks.Has(reach.Name) {
			return fmt.Sprintf("there is no callback %q", reach.Name), errs.CodeNotFound
		}
	}
	return "", ""
}

// withoutStrangers removes from a mail the addresses that its route could not
// be stored with now: an administrator may have removed a domain since, or a
// user may have gone. It says why, and returns "" if there are none.
func (e *Reach) withoutStrangers(m *machine.Mail) (refused string) {
	var why []string
	for _, address := range m.Named {
		if detail, _ := e.refuses(nil, route.Reach{Kind: route.ReachAddress, Name: address}); detail != "" {
			why = append(why, address+": "+detail)
			m.To = slices.DeleteFunc(m.To, func(to string) bool { return strings.EqualFold(to, address) })
		}
	}
	return strings.Join(why, "; ")
}
