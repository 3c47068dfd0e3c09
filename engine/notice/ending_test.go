package notice_test

import (
	"strings"
	"testing"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
)

// TestMailOfEndedEntry: who does not have a schedule entry gets no link to its history, which
// they cannot read, and a mail about an entry that has ended promises no other.
func TestMailOfEndedEntry(t *testing.T) {
	t.Parallel()
	for _, what := range []notice.What{notice.WhatUnstarted, notice.WhatUnfilled} {
		n := &notice.Notice{
			Kind: notice.KindFailure, Time: noon(), Links: "https://flow.example.org", Entry: &notice.Entry{UUID: "0123", Title: "Once"},
			Trouble: &notice.Trouble{What: what, Text: "it is wrong", Since: noon(), Instant: noon(), Ended: true},
		}
		for why, linked := range map[machine.Reason]bool{machine.ReasonOwner: true, machine.ReasonTeam: true, machine.ReasonAdmin: false, machine.ReasonServer: false} {
			text := n.Mail(&notice.Person{Email: "bob@example.org", Notice: machine.Notice{Why: why}}).Text
			if strings.Contains(text, "On the drive: ") != linked || strings.Contains(text, "once a day") || !strings.Contains(text, "has ended") {
				t.Errorf("%s, %s: %s", what, why, text)
			}
		}
	}
}
