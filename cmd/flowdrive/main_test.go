package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"flowdrive/server"
)

// TestMain makes this test binary, under the name flowdrive, the program that
// the tests start: with the race detector if they have it, and without
// anything to build. It is copied into a temporary folder that is first in
// PATH. Its hashes of passwords are cheap, as most of the time of a test that
// logs in would be theirs.
func TestMain(m *testing.M) {
	passwordCosts = server.Costs{Memory: 8, Time: 1, Threads: 1}
	testscript.Main(m, map[string]func(){"flowdrive": main})
}
