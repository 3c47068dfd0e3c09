package notify

import (
	"testing"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
)

// TestChatNamesWhatItOpens: a message has a button with the name of what it is about, and
// does not give what was wrong as the reason why it is over.
func TestChatNamesWhatItOpens(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		about notice.Notice
		want  string
	}{
		{notice.Notice{Case: &machine.Case{ID: 4, Title: "A desk"}}, "Open the case"},
		{notice.Notice{Entry: &notice.Entry{UUID: "0123", Title: "Nightly"}}, "Open the schedule entry"},
		{notice.Notice{Hook: &notice.Hook{ID: 1, Name: "orders", Route: "desk"}}, "Open the route"},
		{notice.Notice{Server: &notice.Server{Name: "backup", Title: "the automatic backup"}}, "See what is wrong"},
		{notice.Notice{Way: &notice.Way{ID: "ntfy", Name: "ntfy at ntfy.sh"}}, ""},
	} {
		n := test.about
		n.Kind, n.Links = notice.KindMended, "https://flow.example.org"
		n.Trouble = &notice.Trouble{What: notice.WhatFailed, Text: "disk full"}
		c, got := chatOf(n.Payload()), ""
		if len(c.links) > 0 {
			got = c.links[0].label
		}
		if got != test.want || c.text() != "What had been wrong: disk full" {
			t.Errorf("%q: the button %q, the text %q", c.title, got, c.text())
		}
	}
	d := notice.Notice{
		Kind: notice.KindAct, Entry: &notice.Entry{UUID: "0123", Title: "Nightly"}, Links: "https://flow.example.org",
		Deed: &notice.Deed{What: notice.DeedPaused, Actor: "root", By: "Root", Said: "The disk is changed."},
	}
	if c := chatOf(d.Payload()); c.title != "Paused: Nightly" || c.text() != "Paused by Root\n> The disk is changed." || c.links[0].label != "Open the schedule entry" {
		t.Errorf("what somebody did: %q, %q, %v", c.title, c.text(), c.links)
	}
}
