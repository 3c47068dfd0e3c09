package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

// Undone is something that has failed and is not an enabled action, until an administrator
// of the route has it tried again or gives it up: a delivery that has failed for good,
// or the action that led the case into a state of the type failed.
type Undone struct {
	Name     string // of the task by which that is done
	Action   string // the action that it is of, or the timer of the case
	Title    string
	Step     string // the verb of the step that failed, "" if no step did
	Fault    string // why, in one line
	Attempts int64
	At       time.Time // when it was asked for, or failed
	Retry    string    // what a retry leads to, in a sentence
	Seq      int64     // orders them within the case
}

func (o *Outgoing) undone() *Undone {
	return &Undone{
		Name: o.Name(), Action: o.action(), Title: fmt.Sprintf("%s of %s", o.Verb, o.Source), Step: string(o.Verb), Fault: o.Fault, Attempts: o.Attempts, At: o.At,
		Retry: "It is sent again.", Seq: o.Seq,
	}
}

func (b *Broken) undone() *Undone {
	return &Undone{
		Name: b.Action, Action: b.Action, Title: b.Action, Step: b.Step, Fault: b.Fault, Attempts: 1, At: b.At,
		Retry: fmt.Sprintf("The case goes back to %q, and the engine tries again.", b.Status),
	}
}

// AllUndone returns what has failed in the case and is not an enabled action.
func (c *Case) AllUndone() (out []*Undone) {
	if c.Broken != nil {
		out = append(out, c.Broken.undone())
	}
	for i := range c.Outbox {
		if o := &c.Outbox[i]; o.Failed {
			out = append(out, o.undone())
		}
	}
	return out
}

// Undone returns what has failed by the name of its task or, if that is not enabled, of
// its action: the first one then. It returns nil if there is none.
func (c *Case) Undone(name string) *Undone {
	all := c.AllUndone()
	for _, u := range all {
		if u.Name == name {
			return u
		}
	}
	for _, u := range all {
		if u.Action == name && c.enablement(name) == nil {
			return u
		}
	}
	return nil
}

// UndoneForm returns the complete form of something that has failed, indented JSON:
// that of a task, with what went wrong.
func UndoneForm(c *Case, u *Undone, beside Beside) []byte {
	b := append(make([]byte, 0, 1024), `{"do":"","comment":"","resolution":null,"xattrDict":{}`...)
	b = appendOfCase(b, c, "", beside.Files)
	b = appendString(b, `,"action":`, u.Action)
	b = appendString(b, `,"title":`, u.Title)
	b = appendString(b, `,"description":null,"choices":{"retry":`, u.Retry)
	b = append(b, `,"abort":"It is given up."},"leadsTo":[]`...)
	b = appendString(b, `,"state":`, string(Escalated))
	b = append(b, `,"due":null,"acceptBy":null,"fireAt":null`...)
	b = appendTimeOrNull(b, `,"offered":`, u.At)
	b = append(b, `,"roles":[],"assignees":[],"acceptedBy":null`...)
	b = appendWarnings(b, `,"warnings":`, c.Warnings, func(w *Warning) bool { return w.Timer == u.Name })
	b = append(b, `,"resolutions":{},"form":null`...)
	b = appendString(b, `,"step":`, u.Step)
	b = appendString(b, `,"error":`, u.Fault)
	b = appendInt(b, `,"attempts":`, u.Attempts)
	return document.Indent(append(appendInt(b, `,"version":`, c.Version), "}\n"...))
}

// WaysOut returns the actions by which the actor can lead a case on that waits in a
// state of the type failed, in order of definition. In any other state there are none:
// what is to be done there is told as tasks.
func WaysOut(c *Case, r *route.Route, actor Actor) (tasks []TaskRef) {
	if c.Life != Completed || !c.hasTasks() {
		return nil
	}
	status := r.State(c.Status)
	for i := range r.Actions {
		a := &r.Actions[i]
		e := c.enablement(a.Name)
		if e == nil || a.Trigger != route.TriggerUser || e.State != Offered && e.State != Accepted {
			continue
		}
		if _, may := mayPerform(c, status, a, actor); may {
			tasks = append(tasks, TaskRef{c.ID, a.Name})
		}
	}
	return tasks
}

// HasFailures reports whether something has failed in the case that can be tried again.
func (c *Case) HasFailures() bool {
	return len(c.AllUndone()) > 0 || slices.ContainsFunc(c.Enabled, func(e Enabled) bool { return e.State == Escalated })
}

// retryAll has everything tried again that has failed in the case: what could not be
// performed, what was not delivered, and what led it into a state of the type failed.
func (d personal) retryAll(e RetryAll) error {
	switch {
	case d.c.Life != Active && d.c.Life != Completed || !d.c.HasFailures():
		return d.refusals().notOpen()
	case !e.Actor.RouteAdmin && !e.Corrected:
		return errs.New(errs.NotAllowed, "Only an administrator of the route may have what has failed tried again.")
	}
	said := ""
	if e.Corrected {
		said = otherInput
	}
	for place := range d.c.Enabled {
		if d.c.Enabled[place].State == Escalated {
			d.retry(place, byPerson(e.Actor, said))
		}
	}
	if b := d.c.Broken; b != nil {
		d.comeBack(b.Status, byPerson(e.Actor, said))
	}
	if e.Corrected {
		return d.deliveries().correct(e.Actor)
	}
	var failed []int
	for i := range d.c.Outbox {
		if d.c.Outbox[i].Failed {
			failed = append(failed, i)
		}
	}
	if len(failed) > 0 {
		return d.deliveries().attend(failed, e.Actor, "", true)
	}
	return d.bringToRest()
}

// KnowsTask reports whether a case of the route can have a task by that name: an action,
// the start of a draft, or what has failed.
func KnowsTask(r *route.Route, name string) bool {
	if name == DraftAction || r.Action(name) != route.NoAction {
		return true
	}
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return false
	}
	seq, step, ok := strings.Cut(name[at+1:], "-") // as in Outgoing.Name
	for _, number := range []string{seq, step} {
		_, err := strconv.ParseUint(number, 10, 64)
		ok = ok && err == nil
	}
	source, _, _ := route.SplitTimer(name[:at])
	return ok && (r.Action(source) != route.NoAction || r.KnowsTimer(source))
}
