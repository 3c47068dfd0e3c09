package machine

// dropResolution removes the resolution of a case that is taken up again, before
// it enters the state; the log keeps it. A case is taken up again if it leaves a
// complete status, and if it comes back to the start state or to the status in
// which it was resolved (docs/contract/engine.md#completion-and-reopening). given
// says that the performance which leads there has just given the resolution.
func (d *caseDecision) dropResolution(to int, given bool) {
	if d.c.Resolution == "" || !has(d.route.States, to) {
		return
	}
	leaves := has(d.route.States, d.status) && isComplete(&d.route.States[d.status]) && !isComplete(&d.route.States[to])
	back := to != d.status && (to == d.route.Start || d.route.States[to].Name == d.c.resolvedIn())
	if leaves || back && !given {
		d.c.Resolution = ""
	}
}

// resolvedIn returns the status in which the last action with a resolution was
// performed, "" for none.
func (c *Case) resolvedIn() string {
	last := -1
	for i := range c.Performed {
		if p := &c.Performed[i]; p.Resolution != "" && (last < 0 || p.Seq > c.Performed[last].Seq) {
			last = i
		}
	}
	if last < 0 {
		return ""
	}
	return c.Performed[last].From
}
