package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary, under the name flowdrive, the program that
// the tests start: with the race detector where they have it, and without
// anything to build. It is copied into a temporary folder that is first in
// PATH.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"flowdrive": main})
}
