package confine

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const (
	becomeArgument = "become-in-this-test"
	endArgument    = "end-in-this-test"
)

// TestMain makes this test binary what becomes other programs, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == endArgument { // as one that gets no more memory does
		os.Exit(endMarked())
	}
	if len(os.Args) > 1 && os.Args[1] == becomeArgument {
		os.Exit(Become(os.Args[2:], os.Environ(), os.Stderr))
	}
	os.Exit(m.Run())
}

// TestProgramIsHeldToItsLimits: it also has its arguments; what cannot be
// started is said on stderr.
func TestProgramIsHeldToItsLimits(t *testing.T) {
	t.Parallel()
	if err := Supported(); err != nil {
		t.Skip(err)
	}
	limits := Limits{Processor: 7, Memory: 64 << 20}
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"limits", Arguments(limits, "/bin/sh", []string{"-c", `ulimit -t; ulimit -d; ulimit -c; echo "$@"`, "sh", "a", "b c"}), "7\n65536\n0\na b c\n"},
		{"no program", Arguments(limits, "/nonexistent/x", nil), "start /nonexistent/x: no such file or directory\n"},
		{"no limits", nil, "this needs limits and a program\n"},
		{"wrong limits", []string{"x", "-1", "y", "/bin/sh"}, "strconv.ParseUint: parsing \"x\": invalid syntax\nstrconv.ParseUint: parsing \"-1\": invalid syntax\nstrconv.ParseUint: parsing \"y\": invalid syntax\n"},
	} {
		cmd := exec.CommandContext(t.Context(), Program)
		cmd.Args = append([]string{"flowdrive", becomeArgument}, test.args...)
		// A test binary that measures coverage complains on stderr if it has
		// nowhere to write to.
		cmd.Env = []string{"PATH=/usr/bin:/bin", "GOCOVERDIR=" + t.TempDir()}
		got, err := cmd.CombinedOutput()
		if string(got) != test.want || (err == nil) != (test.name == "limits") {
			t.Errorf("%s: got %q, %v", test.name, got, err)
		}
	}
}

// TestOutputKeepsNoMoreThanItMay: however it is written to.
func TestOutputKeepsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	full := 0
	o := &Output{Most: 5, Full: func() { full++ }}
	if n, err := io.Copy(o, strings.NewReader("12345")); n != 5 || err != nil || full > 0 {
		t.Errorf("got %d, %v", n, err)
	}
	if _, err := io.Copy(o, bytes.NewBufferString("6")); err == nil || full != 1 {
		t.Errorf("more than the most: got %v", err)
	}
	if got := string(o.Bytes()); got != "12345" {
		t.Errorf("got %q", got)
	}
	if n, err := io.Copy(&Output{Most: 5}, strings.NewReader(strings.Repeat("x", 1<<20))); n != 0 || err == nil {
		t.Errorf("got %d, %v", n, err)
	}
}
