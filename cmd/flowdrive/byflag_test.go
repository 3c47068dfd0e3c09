package main

import "testing"

// TestByFlag: what the server says of requests, commands say of their flags.
func TestByFlag(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"DELETE with ?handOver=<user> gives all that to another user.":                                        "--hand-over USER gives all that to another user.",
		`password: app passwords (1) and calendar links (0) of sam still let in; {"revoke": true} ends them.`: "password: app passwords (1) and calendar links (0) of sam still let in; --revoke ends them.",
		"The name is taken.": "The name is taken.",
	} {
		if got := byFlag(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
