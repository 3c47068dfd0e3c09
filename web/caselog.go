package web

import (
	"regexp"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/route"
)

// attemptText matches what the log says of an attempt to send something that has failed.
var attemptText = regexp.MustCompile(`^(Attempt \d+ failed): (.*); again at (\S+)$`)

// expiryText matches what the log says of a timer that has expired: its name, its kind,
// and when it was due and fired.
var expiryText = regexp.MustCompile(`^TimerExpired: (\S+) \((\S+)\), due (\S+), fired at (\S+)$`)

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
func (x caseDrawing) logWords(e *machine.LogEntry, r *route.Route) string {
	switch e.Kind {
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
	case machine.LogAction, machine.LogWarning, machine.LogError, machine.LogTask, machine.LogLife, machine.LogState, machine.LogRoles, machine.LogChild, machine.LogRemark:
	}
	return x.Words.Instants(machine.LogWords(e, x.partyText))
}
