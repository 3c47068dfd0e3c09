package simulate

import (
	"strconv"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// Run is how a command ends in a scenario.
type Run struct {
	Exit    int64 // its exit status
	Signal  int64 // the number of the signal that ends it, 0 for none
	Timeout bool  // its time is over
	Stdout  string
	Stderr  string
}

// commands reads how commands end: a run, or a list of runs of which the last one is
// repeated.
func (r *reader) commands(v document.Value) {
	if !v.Given() || !v.Is(document.Object) {
		return
	}
	r.out.Commands = map[string][]Run{}
	for i := range v.Node.Members {
		name, member := v.Member(i)
		items := []document.Value{member}
		if member.Node.Kind == document.List {
			items = nil
			for k := range member.Node.Items {
				items = append(items, member.Item(k))
			}
		}
		if len(items) == 0 {
			member.Fail(errs.CodeRequired, "must have at least one run")
		}
		for _, item := range items {
			if item.Is(document.Object) {
				r.out.Commands[name] = append(r.out.Commands[name], run(item))
			}
		}
	}
}

func run(v document.Value) (out Run) {
	v.Only("exit", "signal", "timeout", "stdout", "stderr")
	number := func(key string, most int64) int64 {
		n := v.Get(key)
		if !n.Given() || !n.Is(document.Number) {
			return 0
		}
		i, err := strconv.ParseInt(n.Node.Text, 10, 64)
		if err != nil || i < 0 || i > most {
			n.Fail(errs.CodeRange, "must be a whole number from 0 to %d", most)
		}
		return i
	}
	text := func(key string) string {
		n := v.Get(key)
		if !n.Given() {
			return ""
		}
		s, _ := n.Str()
		return s
	}
	out = Run{Exit: number("exit", 255), Signal: number("signal", 64), Stdout: text("stdout"), Stderr: text("stderr")}
	if t := v.Get("timeout"); t.Given() && t.Is(document.Bool) {
		out.Timeout = t.Node.Bool
	}
	return out
}
