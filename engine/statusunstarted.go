package engine

import (
	"strings"

	"flowdrive/engine/machine"
	"flowdrive/store"
)

// whyUnstarted returns why a case could not start, in a line: its message "error" says so. It
// returns "" of any other case.
func whyUnstarted(e *decider, r store.Reader, c *machine.Case) (string, error) {
	if c.Life != machine.Failed || !c.Started.IsZero() {
		return "", nil
	}
	stored, err := store.OrNil(r.Cases().Messages().GetByLabel(c.ID, machine.LabelError))
	if err != nil {
		return "", err
	}
	text, _, err := e.messageFact(stored)
	return strings.TrimSuffix(machine.OneLine(strings.TrimSpace(string(text))), "."), err
}
