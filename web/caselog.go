package web

import (
	"regexp"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
)

// attemptText matches what the log says of an attempt to send something that has failed.
var attemptText = regexp.MustCompile(`^(Attempt \d+ failed): (.*); again at (\S+)$`)

// expiryText matches what the log says of a timer that has expired: its name, its kind,
// and when it was due and fired.
var expiryText = regexp.MustCompile(`^TimerExpired: (\S+) \((\S+)\), due (\S+), fired at (\S+)$`)

// unknownText matches what the log says of an XATTR that the route does not know: its key, and
// one that may be meant.
var unknownText = regexp.MustCompile(`^The route "[^"]*" neither declares nor uses an XATTR "([^"]+)"(; did you mean "[^"]+"\?|\.) The case has it all the same$`)

// furtherText matches what the log says of more of them than it names.
var furtherText = regexp.MustCompile(`^(\d+) further XATTRs are not declared either$`)

// childrenText matches what the log says of children that are started: how many, and their route.
var childrenText = regexp.MustCompile(`^(Started \d+ cases? of) the route (\S+)$`)

// foldAttempts leaves of attempts that failed one after the other for the same reason the
// newest one, whose number says how many there were. The newest entries come first.
func foldAttempts(entries []machine.LogEntry) []machine.LogEntry {
	out := entries[:0]
	last := ""
	for i := range entries {
		why := ""
		if m := attemptText.FindStringSubmatch(entries[i].Text); m != nil && entries[i].Kind == machine.LogMessage {
			why = m[2]
		}
		if why == "" || why != last {
			out = append(out, entries[i])
		}
		last = why
	}
	return out
}

// logWords returns the text of an entry of the log: what the engine writes for programs in
// the words and the zone of the page.
func (x caseDrawing) logWords(e *machine.LogEntry, d *engine.CaseDetail) string {
	r := d.Route
	switch e.Kind {
	case machine.LogLife:
		if e.Text == "Created" {
			return "Created the case"
		}
	case machine.LogWarning:
		if m := unknownText.FindStringSubmatch(e.Text); m != nil {
			return "The route has no field \"" + m[1] + "\"" + m[2] + " The case has it all the same"
		}
		if m := furtherText.FindStringSubmatch(e.Text); m != nil {
			return "The route has none of " + m[1] + " further fields either"
		}
	case machine.LogChild:
		if m := childrenText.FindStringSubmatch(e.Text); m != nil {
			return m[1] + " " + childRoute(d, m[2])
		}
	case machine.LogMessage:
		if m := attemptText.FindStringSubmatch(e.Text); m != nil {
			if again, err := time.Parse(time.RFC3339, m[3]); err == nil {
				return m[1] + ": " + m[2] + "; it is tried again " + x.Words.Moment(again)
			}
		}
	case machine.LogTimer:
		if m := expiryText.FindStringSubmatch(e.Text); m != nil {
			title, why := timerWords(r, m[1], timerForm{Kind: m[2], Action: deref(e.Action)})
			text := title + " " + why
			if why == "" {
				text = "The timer " + title + " has expired"
			}
			if due, err := time.Parse(time.RFC3339, m[3]); err == nil && m[3] != m[4] {
				text += ", since " + x.Words.Moment(due)
			}
			return text
		}
	case machine.LogAction, machine.LogError, machine.LogTask, machine.LogState, machine.LogRoles, machine.LogRemark:
	}
	return x.Words.Instants(machine.LogWords(e, x.partyText))
}

// childRoute returns the title of the route of children, its name if the reader sees none of them.
func childRoute(d *engine.CaseDetail, name string) string {
	for _, child := range d.Children {
		if child.Case.RouteName == name {
			return routeTitle(child)
		}
	}
	return name
}
