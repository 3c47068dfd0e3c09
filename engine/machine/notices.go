package machine

import (
	"cmp"
	"slices"

	"flowdrive/internal/identity"
)

// Reason says why a user is notified of an event: what they are to the case.
type Reason string

// The reasons, the strongest first: a user with several is notified for the first
// (docs/contract/routes.md#6-notifications).
const (
	ReasonTask        Reason = "task"        // they have a task that they did not have before
	ReasonReminder    Reason = "reminder"    // they have had it for a while
	ReasonDeputy      Reason = "deputy"      // they stand in for a user who has the task
	ReasonPlayer      Reason = "player"      // they play a role in the case
	ReasonStakeholder Reason = "stakeholder" // they are its stakeholder
	ReasonStarter     Reason = "starter"     // they have started it
	ReasonContext     Reason = "context"     // the case belongs to them
	ReasonOwner       Reason = "owner"       // the schedule entry is theirs
	ReasonTeam        Reason = "team"        // they administer the team that the case or entry belongs to
	ReasonAdmin       Reason = "admin"       // they administer the route
	ReasonServer      Reason = "server"      // they administer the server
	ReasonTold        Reason = "told"        // they were told of what went wrong
	ReasonWatcher     Reason = "watcher"     // they watch the route
)

// Notice says that a user is to be notified of an event, once.
type Notice struct {
	Person string // a user's name
	Why    Reason
	Case   int64     // the case that they are notified because of: the event's own or another one of the tree
	Tasks  []TaskRef // the tasks that it is about, for ReasonTask and ReasonReminder
	Cases  []int64   // without tasks: all cases of the tree whose people they are, from the event's case upwards
	Own    bool      // the acts are their own: they are told of nothing but the end of other cases
}

// TaskRef names a task.
type TaskRef struct {
	Case   int64
	Action string
}

// Notices says who is to be notified of an event, and of what.
type Notices struct {
	Acts  []LogEntry // what a person or a timer did to the event's case, without what followed
	Child *ChildNews // nil: the event's case has no parent
	News  []News     // of the event's case and its ancestors, in this order, as far as something happened in them
	To    []Notice
}

// noticeBuilder makes the notices of one event.
type noticeBuilder struct {
	*caseDecision
	out  Notices
	told map[string]int // by folded name: place in out.To
}

// notices returns who is to be notified, nil for nobody. Users who have a new task
// are notified of it, unless they gave it to themselves. The people of the case and
// of its ancestors are notified of what a person or a timer did, except the person
// who did it, and of the end of a case, except the person who ended it.
//
// The team of everyone is not notified: a role that everyone plays would send a mail
// to each user for every case.
func (d *caseDecision) notices(event Event) *Notices {
	n := &noticeBuilder{caseDecision: d, told: map[string]int{}}
	n.acts(event)
	for _, each := range append([]*caseDecision{d}, d.order...) {
		n.tasks(each)
	}
	n.dropWaysOut()
	if len(n.out.Acts) > 0 || n.anyEnded() {
		n.audience()
	}
	if len(n.out.To) == 0 {
		return nil
	}
	return &n.out
}

// tasks notifies users of tasks in a case that they did not have before, and of
// reminders.
func (n *noticeBuilder) tasks(d *caseDecision) {
	n.draftTask(d)
	if !d.c.hasTasks() {
		return
	}
	for i := range d.c.Enabled {
		e := &d.c.Enabled[i]
		if d.actions[i] == unknown || !d.route.Actions[d.actions[i]].IsTask() {
			continue
		}
		var before *Enabled
		if d.from != nil {
			if at := d.from.placeOf(e.Number); at >= 0 {
				before = &d.from.Enabled[at]
			}
		}
		why, had := ReasonTask, []string(nil)
		switch {
		case before != nil && !before.Remind.IsZero() && e.Remind.After(before.Remind):
			why = ReasonReminder
		case e.State != Offered:
			continue
		case before != nil && before.State == Offered && before.To == e.To:
			had = holders(d.from, d.route.State(d.from.Status), &d.route.Actions[d.actions[i]], before)
		}
		for _, person := range n.newHolders(d, holders(d.c, d.status, &d.route.Actions[d.actions[i]], e), had) {
			if !e.rejectedBy(person) && !n.gaveItself(d, person, why) && !isBarred(d.c, d.route, &d.route.Actions[d.actions[i]], person) {
				n.task(person, why, TaskRef{d.c.ID, e.Action})
			}
		}
	}
}

// newHolders returns the users of the parties have that are not users of the parties
// had. If a task itself has not changed, there are some if its role has got other
// players.
func (n *noticeBuilder) newHolders(d *caseDecision, have, had []string) (persons []string) {
	for _, party := range have {
		if !slices.ContainsFunc(had, func(old string) bool { return sameName(old, party) }) {
			persons = append(persons, n.persons(d, party)...)
		}
	}
	if len(persons) == 0 {
		return nil
	}
	for _, party := range had {
		for _, old := range n.persons(d, party) {
			persons = slices.DeleteFunc(persons, func(person string) bool { return sameName(old, person) })
		}
	}
	return persons
}

// task adds a task to the notice of a user. A new task is a stronger reason than a
// reminder.
func (n *noticeBuilder) task(person string, why Reason, task TaskRef) {
	at, told := n.told[identity.Fold(person)]
	if !told {
		at = n.add(person, why, task.Case)
	}
	notice := &n.out.To[at]
	if notice.Why == ReasonReminder && why == ReasonTask {
		notice.Why, notice.Case = why, task.Case
	}
	if !slices.Contains(notice.Tasks, task) {
		notice.Tasks = append(notice.Tasks, task)
	}
}

// acts notes what a person or a timer did to the event's case: the first thing of a
// request, everything that was due of the sweeper's event.
func (n *noticeBuilder) acts(event Event) {
	_, sweep := event.(Due)
	for i := range n.log {
		entry := &n.log[i]
		if entry.Trigger == nil {
			continue
		}
		switch by := *entry.Trigger; entry.Kind {
		case LogAction:
			if by != ByUser && by != ByInit && by != ByTime && (by != ByMessage || entry.Actor == nil) {
				continue // the answer of a service is not an act of a person
			}
		case LogLife:
			if by != ByUser || entry.To == nil || *entry.To == string(Queued) || *entry.To == StateDraft {
				continue
			}
		case LogTimer, LogRemark:
		default:
			continue
		}
		if entry.Kind == LogTimer && n.expired[entry.Seq] == "" {
			continue // that it is overdue is told as what is wrong with the case
		}
		n.out.Acts = append(n.out.Acts, *entry)
		if !sweep {
			return
		}
	}
}

// audience notifies the people of the case and of its ancestors.
func (n *noticeBuilder) audience() {
	seats := []*caseDecision{n.caseDecision}
	for at := n.caseDecision; at.c.Parent != 0; {
		parent, err := n.related(at.c.Parent)
		if err != nil || parent == nil {
			break // it is a need now, or is gone
		}
		seats, at = append(seats, parent), parent
	}
	n.tellNews(seats)
	for _, d := range seats {
		for i := range d.c.Roles {
			for _, party := range d.c.Roles[i].Parties {
				if party != PartyStakeholders {
					n.people(d, party, ReasonPlayer)
				}
			}
		}
	}
	for _, d := range seats {
		for _, party := range d.c.Stakeholders {
			n.people(d, party, ReasonStakeholder)
		}
	}
	for _, d := range seats {
		if n.isUser(d.c.Starter) {
			n.people(d, d.c.Starter, ReasonStarter)
		}
	}
	for _, d := range seats {
		watchers, known := n.facts.Watchers[d.c.RouteID]
		if !known {
			n.need(Need{Watchers: d.c.RouteID})
		}
		for _, person := range watchers {
			n.others(d, person, ReasonWatcher)
		}
	}
}

// isUser reports whether the name is a user's. The starter of a scheduled case is
// its context, which may be a team.
func (n *noticeBuilder) isUser(name string) bool {
	kind, known := n.facts.Parties[name]
	if !known {
		n.need(Need{Party: name})
	}
	return kind == UserParty
}

func (n *noticeBuilder) people(d *caseDecision, party string, why Reason) {
	for _, person := range n.persons(d, party) {
		n.others(d, person, why)
	}
}

// others notifies a user of what happened in a case, for the strongest of the
// reasons. Who did it is not notified of it, but of the end of another case that it
// brought about.
func (n *noticeBuilder) others(d *caseDecision, person string, why Reason) {
	own := n.isAct(person)
	if own && !n.endedFor(d, person) {
		return
	}
	at, told := n.told[identity.Fold(person)]
	if !told {
		at = n.add(person, why, d.c.ID)
		n.out.To[at].Own = own
	}
	if notice := &n.out.To[at]; len(notice.Tasks) == 0 && !slices.Contains(notice.Cases, d.c.ID) {
		notice.Cases = append(notice.Cases, d.c.ID)
	}
}

// isAct reports whether the acts are the person's own.
func (n *noticeBuilder) isAct(person string) bool { return n.out.doneBy(person) }

// Gave reports whether the user has brought about by one of the acts what is new in the
// event's case. What is to be done in a case of a schedule entry is told to everybody.
func (n *Notices) Gave(c *Case, user string) bool { return c.ScheduleUUID == "" && n.doneBy(user) }

// doneBy reports whether one of the acts is that user's own.
func (n *Notices) doneBy(user string) bool {
	return slices.ContainsFunc(n.Acts, func(entry LogEntry) bool { return entry.Actor != nil && sameName(*entry.Actor, user) })
}

func (n *noticeBuilder) add(person string, why Reason, through int64) (place int) {
	place = len(n.out.To)
	n.told[identity.Fold(person)] = place
	n.out.To = append(n.out.To, Notice{Person: person, Why: why, Case: through})
	return place
}

// persons returns the users of a party of a case. Absent facts become needs.
func (n *noticeBuilder) persons(d *caseDecision, party string) (persons []string) {
	parties := []string{party}
	switch party {
	case "", string(identity.Everyone):
		return nil
	case PartyStakeholders:
		parties = d.c.Stakeholders
	case PartyAdmins:
		admins, known := n.facts.Admins[d.c.RouteID]
		if !known {
			n.need(Need{Admins: d.c.RouteID})
		}
		parties = admins
	}
	for _, party := range parties {
		members, known := n.facts.Members[party]
		switch {
		case party == string(identity.Everyone):
		case !known:
			n.need(Need{Members: party})
		default:
			persons = append(persons, members...)
		}
	}
	return persons
}

// sorted sorts the notices by reason. Those with the same reason keep their order.
func (n *Notices) sorted() *Notices {
	if n == nil {
		return nil
	}
	order := []Reason{ReasonTask, ReasonReminder, ReasonPlayer, ReasonStakeholder, ReasonStarter, ReasonWatcher}
	slices.SortStableFunc(n.To, func(a, b Notice) int {
		return cmp.Compare(slices.Index(order, a.Why), slices.Index(order, b.Why))
	})
	return n
}
