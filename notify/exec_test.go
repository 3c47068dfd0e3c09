package notify

import (
	"cmp"
	"maps"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/confine"
)

// shell allows a shell as the command "sh", which of course nobody should.
func shell(t *testing.T, c Command) *Gateway {
	t.Helper()
	if err := confine.Supported(); err != nil {
		t.Skip(err)
	}
	c.Path, c.Args = "/bin/sh", []string{"-c"}
	if c.Memory == 0 {
		// The race detector has more memory than any limit, and asks for more
		// whenever it likes, also before this program becomes the shell. What a
		// limit does is what TestExecMemory tries.
		c.Memory = 1 << 60
	}
	commands, err := CheckCommands(map[string]Command{"sh": c})
	if err != nil {
		t.Fatal(err)
	}
	return newGateway(t, Config{Commands: commands})
}

func script(text string, args ...string) *outbox.Delivery {
	return &outbox.Delivery{Exec: &outbox.Command{Name: "sh", Args: slices.Concat([]string{text, "sh"}, args), Input: []byte("the input")}}
}

// TestEndOfACommandDecides: how a command ends decides what becomes of it.
func TestEndOfACommandDecides(t *testing.T) {
	t.Parallel()
	g := shell(t, Command{})
	for _, test := range []struct{ script, want string }{
		{`cat`, "text/plain the input"},
		{`echo '{"a": 1}'`, "application/json {\"a\": 1}\n"},
		{`printf '\377'`, "application/octet-stream \xff"},
		{`:`, "text/plain "}, // and its input is not read
		{`echo out; echo "oh\033[0m no" >&2; exit 3`, "final: sh ended with exit status 3: oh[0m no"},
		{`echo later >&2; exit 75`, "final: sh ended with exit status 75: later"},
		{`kill -9 $$`, "final: sh ended with signal: killed"},
		{`i=0; while [ $i -lt 2000 ]; do echo "line $i" >&2; i=$((i+1)); done; echo last >&2; exit 1`, "final: sh ended with exit status 1: line 19"},
		{`exec 1>&-; exit 0`, "text/plain "},
	} {
		if got := deliver(t, g, script(test.script)); got != test.want && (!strings.HasSuffix(test.want, "line 19") || !strings.HasPrefix(got, test.want) || !strings.HasSuffix(got, " last")) {
			t.Errorf("%s: got %q, want %q", test.script, got, test.want)
		}
	}
}

// TestExecSees: a command has its arguments as they are, the environment that
// it is given, and a folder of its own that is gone afterwards.
func TestExecSees(t *testing.T) {
	t.Parallel()
	g := shell(t, Command{Env: map[string]string{"LANG": "C", "A": "b=c"}})
	if got, want := deliver(t, g, script(`printf '<%s>' "$@"`, "a b", "", "$(id)", "'; rm -rf /", "--x", "é\n")), "text/plain <a b><><$(id)><'; rm -rf /><--x><é\n>"; got != want {
		t.Errorf("arguments: got %q", got)
	}
	// A shell adds PWD and others of its own: the kernel says what it was given.
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	got := deliver(t, g, script(`tr '\000' ' ' < /proc/$$/environ`))
	if got != "text/plain IDEMPOTENCY_KEY=5d3c0f0e8a5b4f6c9d1e2f3a4b5c6d7e-3-1 A=b=c LANG=C " {
		t.Errorf("environment: got %q", got)
	}
	// What this process was started with it may have; not what it opened.
	if got := deliver(t, g, script(`for f in /proc/$$/fd/*; do /bin/readlink $f; done; true`)); !strings.Contains(got, "pipe:") || strings.Contains(got, "socket:") {
		t.Errorf("open files: got %q", got)
	}
	got = deliver(t, g, script(`pwd; mkdir -p x/y; echo z > x/y/z; chmod 500 x/y`))
	folder := strings.TrimSpace(strings.TrimPrefix(got, "text/plain "))
	if filepath.Dir(folder) != g.Scratch {
		t.Errorf("folder: got %q", got)
	}
	// The folder that cannot be written shall not keep it from going, where
	// that is up to permissions.
	if left, err := os.ReadDir(g.Scratch); err != nil || len(left) > 0 && os.Getuid() == 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestTimeoutsOfCommands: a command may take a day, and no longer; one of which nothing is said
// has half a minute.
func TestTimeoutsOfCommands(t *testing.T) {
	t.Parallel()
	if err := confine.Supported(); err != nil {
		t.Skip("processes cannot be bounded here: ", err)
	}
	for timeout, want := range map[time.Duration]string{
		0:                            "",
		2 * time.Hour:                "",
		24 * time.Hour:               "",
		24*time.Hour + 1:             "sh: timeout: must be above zero and at most 24h",
		25 * time.Hour:               "sh: timeout: must be above zero and at most 24h",
		-time.Second:                 "sh: timeout: must be above zero and at most 24h",
		time.Duration(math.MaxInt64): "sh: timeout: must be above zero and at most 24h",
	} {
		c, err := CheckCommands(map[string]Command{"sh": {Path: "/bin/sh", Timeout: timeout}})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", timeout, got, want)
		}
		if limit := cmp.Or(timeout, 30*time.Second); c.named["sh"].Timeout != limit {
			t.Errorf("%s: the limit is %s", timeout, c.named["sh"].Timeout)
		}
	}
}

// TestExecBounds: time, output and children are bounded. What is not ended
// when its time is over keeps the test from ending.
func TestExecBounds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, script, want string
		timeout            time.Duration
	}{
		{"time", `sleep 86400`, "final: sh took longer than 300ms", 300 * time.Millisecond},
		{"a child's time", `sleep 86400 & wait`, "final: sh took longer than 300ms", 300 * time.Millisecond},
		{"ignoring signals", `trap '' TERM INT HUP; while :; do sleep 86400; done`, "final: sh took longer than 300ms", 300 * time.Millisecond},
		{"output", `while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxx; done`, "final: sh wrote more than the 1000 bytes that a step may take of it by into (output of the command in the settings)", 0},
		{"errors", `i=0; while [ $i -lt 9999 ]; do i=$((i+1)); echo xxxxxxxxxxxxxx >&2; done; exit 1`, "final: sh ended with exit status 1: xxxxxxxxxxxxxx xxxx", 0},
		{"what it left behind", `sleep 86400 & echo done`, "text/plain done\n", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := shell(t, Command{Timeout: test.timeout, Output: 1000})
			if got := deliver(t, g, script(test.script)); !strings.HasPrefix(got, test.want) || len(got) > 400 {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestExecMemory: a command that needs more memory than it may have does not
// get it.
func TestExecMemory(t *testing.T) {
	t.Parallel()
	g := shell(t, Command{Memory: 32 << 20})
	if got := deliver(t, g, script(`x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done`)); !strings.HasPrefix(got, "final: sh ended with ") {
		t.Errorf("got %s", got)
	}
	if got, want := deliver(t, g, script(`x=xxxxxxxxxxxxxxxx; for i in 1 2 3 4 5 6 7 8 9 10; do x=$x$x; done; echo ${#x}`)), "application/json 16384\n"; got != want {
		t.Errorf("got %s", got)
	}
}

// TestExecGroup: what a command started ends with it, also what has left its process
// group, its session, its environment and the process that started it, and also if
// the command is over its time. What goes on keeps the test from ending.
func TestExecGroup(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a child":          `sleep 600 >/dev/null 2>&1 & echo $!`,
		"a session":        `setsid sleep 600 >/dev/null 2>&1 & echo $!`,
		"a daemon":         `(setsid env -i /bin/sh -c 'echo $$ > pid; exec sleep 600' >/dev/null 2>&1 &); while ! [ -s pid ]; do :; done; cat pid`,
		"a daemon, a loop": `(setsid env -i /bin/sh -c 'echo $$ > pid; exec sleep 600' >/dev/null 2>&1 &); while ! [ -s pid ]; do :; done; cat pid >&2; sleep 600`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timeout := time.Duration(0)
			if strings.Contains(name, "loop") {
				timeout = time.Second
			}
			var pid string
			for {
				g := shell(t, Command{Timeout: timeout})
				g.limits.postMortem = 10 * time.Millisecond
				told := strings.Fields(deliver(t, g, script(text)))
				pid = told[len(told)-1]
				if _, err := strconv.Atoi(pid); err == nil {
					break
				}
				if timeout == 0 || timeout > time.Minute {
					t.Fatalf("got %q", told)
				}
				timeout *= 2 // a loaded machine did not come as far as to tell the number
			}
			// A process that was killed takes a moment to end. The process that takes on orphans may
			// not have looked at it yet: it is a zombie, whose command line is empty, or gone.
			for {
				if line, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline")); err != nil || !strings.Contains(string(line), "600") {
					return
				}
				runtime.Gosched()
			}
		})
	}
}

// TestExecArguments: what cannot be started is not tried again.
func TestExecArguments(t *testing.T) {
	t.Parallel()
	g := shell(t, Command{})
	for name, arg := range map[string]string{"NUL": "a\x00b", "too long": strings.Repeat("x", 1<<20)} {
		if got := deliver(t, g, script(":", arg)); !strings.HasPrefix(got, "final: sh cannot be run: ") || len(got) > 400 {
			t.Errorf("%s: got %.400s", name, got)
		}
	}
	if got := deliver(t, g, &outbox.Delivery{Exec: &outbox.Command{Name: "rm"}}); !strings.HasPrefix(got, `final: routes may not run "rm"`) {
		t.Errorf("got %s", got)
	}
	if got := g.RefusesCommand("shh"); !strings.Contains(got, `did you mean "sh"?`) {
		t.Errorf("got %s", got)
	}
	if got := g.RefusesCommand("sh"); got != "" {
		t.Errorf("got %s", got)
	}
}

// TestExecGone: a program that went after the start is told.
func TestExecGone(t *testing.T) {
	t.Parallel()
	g := shell(t, Command{})
	c := g.Commands.named["sh"]
	c.Path = filepath.Join(t.TempDir(), "gone")
	g.Commands.named["sh"] = c
	if got := deliver(t, g, script(":")); !strings.HasPrefix(got, "final: sh could not be started: start "+c.Path+": no such file or directory") {
		t.Errorf("got %s", got)
	}
}

func TestCheckCommands(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := map[string]Command{
		"absent":   {Path: "/nonexistent/x"},
		"env":      {Path: "/bin/sh", Env: map[string]string{"A=B": "c"}},
		"folder":   {Path: "/bin"},
		"key":      {Path: "/bin/sh", Env: map[string]string{"IDEMPOTENCY_KEY": "c"}},
		"long":     {Path: "/bin/sh", Timeout: 25 * time.Hour},
		"negative": {Path: "/bin/sh", Timeout: -1},
		"output":   {Path: "/bin/sh", Output: 1 << 30},
		"plain":    {Path: plain},
		"relative": {Path: "sh"},
		"small":    {Path: "/bin/sh", Memory: 1},
	}
	_, err := CheckCommands(wrong)
	if err == nil {
		t.Fatal("got no error")
	}
	for _, name := range slices.Sorted(maps.Keys(wrong)) {
		if !strings.Contains(err.Error(), name+": ") {
			t.Errorf("%s: nothing of it in %v", name, err)
		}
	}
}

// TestHowACommandFailed: of what kind a failure is, and what the command wrote last,
// is told with it.
func TestHowACommandFailed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		script string
		kind   machine.FailureKind
		status int64
		output string
	}{
		{`echo out; echo "disk full" >&2; exit 3`, machine.FailureExit, 3, "disk full"},
		{`echo out; exit 75`, machine.FailureExit, 75, "out"},
		{`kill -9 $$`, machine.FailureSignal, 9, ""},
		{`echo begun; sleep 86400`, machine.FailureTimeout, 0, "begun"},
		{`i=0; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxx; done`, machine.FailureFault, 0, "x"},
	} {
		within := time.Minute
		if test.kind == machine.FailureTimeout {
			within = 300 * time.Millisecond
		}
		var how outbox.Failed
		for ; ; within *= 2 { // on a loaded machine the time may be over before the command has begun
			_, err := shell(t, Command{Timeout: within, Output: 1000}).Deliver(t.Context(), script(test.script))
			if how = outbox.HowFailed(err); how.Output != "" || test.output == "" || within > time.Minute {
				break
			}
		}
		if how.Kind != test.kind || how.Status != test.status || !strings.HasSuffix(how.Output, test.output) || len(how.Output) > outbox.MostTold {
			t.Errorf("%s: got %s, %d, %q", test.script, how.Kind, how.Status, how.Output)
		}
	}
}

// TestOutputIsFollowed: what a command writes is told while it runs, the end of it,
// and at its end whatever that is. If it is no answer there is no bound on it.
func TestOutputIsFollowed(t *testing.T) {
	t.Parallel()
	g := shell(t, Command{Output: 1000, Timeout: 20 * time.Second})
	g.limits.follow = time.Millisecond
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	d := script(`echo first; echo trouble >&2; read x < "$1"; i=0; while [ $i -lt 9000 ]; do echo "0123456789 $i"; i=$((i+1)); done; exit 1`, fifo)
	d.Exec.Discards = true
	told := make(chan outbox.Output, 10_000)
	var once sync.Once
	d.Wrote = func(o outbox.Output) {
		told <- o
		if string(o.Stdout) == "first\n" && string(o.Stderr) == "trouble\n" {
			once.Do(func() { // only now it goes on
				if err := os.WriteFile(fifo, []byte("x\n"), 0); err != nil {
					t.Error(err)
				}
			})
		}
	}
	if got := deliver(t, g, d); got != "final: sh ended with exit status 1: trouble" {
		t.Errorf("got %s", got)
	}
	close(told)
	var last outbox.Output
	for output := range told {
		last = output
	}
	if len(last.Stdout) != outbox.MostKept || !strings.HasSuffix(string(last.Stdout), "0123456789 8999\n") || string(last.Stderr) != "trouble\n" {
		t.Errorf("at its end %d bytes were told, ending in %.40q, and %q", len(last.Stdout), last.Stdout[max(0, len(last.Stdout)-40):], last.Stderr)
	}
}

// TestWhatNeverBecameTheCommand: it has not run, so it is started again, and in the
// end that is not told as the command's own failure.
func TestWhatNeverBecameTheCommand(t *testing.T) {
	t.Parallel()
	g := shell(t, Command{})
	g.Confined = []string{endArgument}
	_, err := g.Deliver(t.Context(), script("exit 3"))
	how := outbox.HowFailed(err)
	if how.Kind != machine.FailureFault || err.Error() != "sh could not be started: no memory" {
		t.Errorf("got %s, %v", how.Kind, err)
	}
}

// TestShort: how long a command may take is written without what is zero.
func TestShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		2 * time.Hour: "2h", 30 * time.Minute: "30m", 90 * time.Minute: "1h30m", 20 * time.Second: "20s", time.Hour + time.Second: "1h0m1s", 100 * time.Millisecond: "100ms",
	} {
		if got := short(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
