package machine

// Vacate takes from a user what is theirs alone, because they cannot do it any
// more: tasks that they have accepted, or that were delegated to them, are offered
// to their roles again.
type Vacate struct {
	Actor Actor // who has seen to it
	User  string
}

func (Vacate) event() {}

// vacate offers the tasks of a user to their roles again. It may be done while the
// case is suspended.
func (d personal) vacate(e Vacate) error {
	for place := range d.c.Enabled {
		task := &d.c.Enabled[place]
		accepted := task.acceptedFor(e.User)
		delegated := task.isDelegatedTo(e.User)
		if !accepted && !delegated {
			continue
		}
		if accepted {
			d.setState(place, Offered)
		}
		if delegated {
			task.To, task.Giver = "", ""
		}
		name := task.Action
		if i := d.actions[place]; i != unknown {
			name = title(&d.route.Actions[i])
		}
		d.taskLog(place, e.Actor, "", "Released "+name+": "+e.User+" was disabled", "")
	}
	return d.bringToRest()
}

// WithoutTasksOf returns the case as it is for StaffedTasks after Vacate, and how many tasks
// Vacate takes from the user.
func (c *Case) WithoutTasksOf(user string) (out *Case, tasks int) {
	out = c.clone()
	for i := range out.Enabled {
		task := &out.Enabled[i]
		accepted, delegated := task.acceptedFor(user), task.isDelegatedTo(user)
		if accepted {
			task.State = Offered
		}
		if delegated {
			task.To, task.Giver = "", ""
		}
		if accepted || delegated {
			tasks++
		}
	}
	return out, tasks
}

func (e *Enabled) isDelegatedTo(name string) bool { return e.To != "" && sameName(e.To, name) }

// acceptedFor reports whether the user has accepted the task, or somebody on their
// behalf.
func (e *Enabled) acceptedFor(name string) bool {
	return e.State == Accepted && (sameName(e.By, name) || e.For != "" && sameName(e.For, name))
}
