package confine

import (
	"os/exec"
	"testing"
)

// endMarked ends as a process does that could not become a program.
func endMarked() int {
	if mark() != nil {
		return 3
	}
	return 2
}

// TestBecame: how a process ended is known to be the program's own doing, or not,
// however soon it ended.
func TestBecame(t *testing.T) {
	t.Parallel()
	limits := Limits{Processor: 7, Memory: 64 << 20}
	for _, test := range []struct {
		name, path string
		args       []string
		want       bool
	}{
		{"the program", "/bin/true", append([]string{becomeArgument}, Arguments(limits, "/bin/true", nil)...), true},
		{"one that fails", "/bin/sh", append([]string{becomeArgument}, Arguments(limits, "/bin/sh", []string{"-c", "exit 2"})...), true},
		{"one that names itself", "/bin/sh", append([]string{becomeArgument}, Arguments(limits, "/bin/sh", []string{"-c", "echo exec > /proc/$$/comm"})...), true},
		{"no program", "/nonexistent/x", append([]string{becomeArgument}, Arguments(limits, "/nonexistent/x", nil)...), false},
		{"no limits", "/bin/true", []string{becomeArgument}, false},
		{"an end before it", "/bin/true", []string{endArgument}, false},
	} {
		cmd := exec.CommandContext(t.Context(), Program)
		cmd.Args = append([]string{"flowdrive"}, test.args...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "GOCOVERDIR=" + t.TempDir()}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		got, err := Became(cmd.Process.Pid, test.path)
		if got != test.want || err != nil {
			t.Errorf("%s: it became the program: %t, %v", test.name, got, err)
		}
		_ = cmd.Wait() // that one fails is meant
	}
	if _, err := Became(1, "/bin/true"); err == nil {
		t.Error("another process's end was waited for")
	}
}
