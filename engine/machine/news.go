package machine

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"flowdrive/internal/identity"
	"flowdrive/route"
)

// News is what happened in a case of the tree, for its people.
type News struct {
	Case  int64
	Word  string // what was done, or how the case ended: "Approved"
	Ended bool   // the case has come to its end in this event

	endedBy string // the person who did that, "" for the engine
}

// ChildNews is what people are told of the event's case as a child.
type ChildNews struct {
	ParentTitle string
	Verb        string // what the parent's action asks several parties for, as it was done: "Voted"; "" if it asks one
	Action      string // the title of the child's action: "Approve"; "" if none was performed
	Done, Total int64  // of the children of that action; Done is 0 if the child goes on
}

// gaveItself reports whether the person has a new task in the event's own case
// because of what that person has just done there. They know of it, and are
// reminded of it like others.
func (n *noticeBuilder) gaveItself(d *caseDecision, person string, why Reason) bool {
	return why == ReasonTask && d.c.ID == n.eventCase && n.out.Gave(d.c, person)
}

// dropWaysOut takes the tasks from users who have been given nothing but ways out:
// actions that only refuse or withdraw, or that are always possible. To be able to
// do these is not something to do.
func (n *noticeBuilder) dropWaysOut() {
	n.out.To = slices.DeleteFunc(n.out.To, func(notice Notice) bool {
		return !slices.ContainsFunc(notice.Tasks, func(task TaskRef) bool { return !n.isWayOut(task) })
	})
	clear(n.told)
	for i := range n.out.To {
		n.told[identity.Fold(n.out.To[i].Person)] = i
	}
}

// isWayOut reports whether a task is not something to do, but something that can be
// done if need be: it is enabled always, or each state that it leads to is one of
// refusal or withdrawal. An action that leads nowhere is something to do.
func (n *noticeBuilder) isWayOut(task TaskRef) bool {
	d := n.cases[task.Case]
	if d.c.IsDraft() {
		return false
	}
	i := d.route.Action(task.Action)
	return i != unknown && isWayOut(d.route, i)
}

func isWayOut(r *route.Route, action int) bool {
	a := &r.Actions[action]
	if a.Always && r.Model != route.Dependency {
		return true
	}
	leads := []int{a.To}
	for _, o := range a.Outputs {
		leads = append(leads, o.To)
	}
	for _, t := range a.Transitions {
		leads = append(leads, r.Transitions[t].To)
	}
	out := false
	for _, to := range leads {
		if !has(r.States, to) {
			continue
		}
		if t := r.States[to].Type; t != route.StateDenied && t != route.StateCancelled {
			return false
		}
		out = true
	}
	return out
}

// anyEnded reports whether the event's case has ended, or an ancestor of it may have.
func (n *noticeBuilder) anyEnded() bool {
	return n.hasEnded() || slices.ContainsFunc(n.order, (*caseDecision).hasEnded)
}

// hasEnded reports whether the case has come to its end in this event. That one has
// failed is told as what is wrong with it.
func (d *caseDecision) hasEnded() bool {
	return d.c.Life.Ended() && d.c.Life != Failed && d.from != nil && !d.from.Life.Ended()
}

// tellNews notes what happened in the cases, which are the event's case and its
// ancestors.
func (n *noticeBuilder) tellNews(seats []*caseDecision) {
	if len(seats) > 1 {
		n.out.Child = n.asChild(seats[1])
	}
	for _, d := range seats {
		news := News{Case: d.c.ID}
		moved := d.from != nil && d.from.Status != d.c.Status
		switch at := d.lastMove(); {
		case d.hasEnded():
			news.Ended, news.Word = true, d.outcome(at)
			if d.c.ID == n.eventCase && n.out.Child != nil && len(n.out.Acts) > 0 {
				news.Word = d.word(&n.out.Acts[0])
			}
			// What has failed was ended by nobody: the starter is told, too.
			if d.c.MovedByFault() == "" && at != nil && at.Actor != nil && at.Trigger != nil && (*at.Trigger == ByUser || *at.Trigger == ByInit) {
				news.endedBy = *at.Actor
			}
		case d.c.ID == n.eventCase && len(n.out.Acts) > 0:
			news.Word = d.word(&n.out.Acts[0])
		case d.c.ID != n.eventCase && moved && at != nil:
			news.Word = d.word(at)
		default:
			continue
		}
		n.out.News = append(n.out.News, news)
	}
}

// endedFor reports whether the case has ended in this event, and not by what the
// person did in it.
func (n *noticeBuilder) endedFor(d *caseDecision, person string) bool {
	return slices.ContainsFunc(n.out.News, func(news News) bool {
		return news.Case == d.c.ID && news.Ended && !sameName(news.endedBy, person) && (d.c.ID != n.eventCase || d.c.Parent == 0)
	})
}

// lastMove returns the last log entry of the event that led the case to another
// state or ended it, nil if there is none.
func (d *caseDecision) lastMove() *LogEntry {
	for i := len(d.log) - 1; i >= 0; i-- {
		e := &d.log[i]
		if e.To != nil && (e.Kind == LogAction || e.Kind == LogLife && *e.To == string(Canceled)) {
			return e
		}
	}
	return nil
}

// MovedByFault returns what has failed if the case has ended because of that, "" if it
// has not.
func (c *Case) MovedByFault() string {
	if c.Moved != nil && c.Life == Completed {
		return c.Moved.Text
	}
	return ""
}

// outcome says in a word how the case ended: by the title of its last state, else by
// what a person did last, else by the name of that state.
func (d *caseDecision) outcome(last *LogEntry) string {
	if d.c.Life == Canceled || !has(d.route.States, d.status) {
		return firstUpper(string(d.c.Life))
	}
	state := &d.route.States[d.status]
	if state.Title != state.Name && state.Title != "" {
		return state.Title
	}
	if last != nil && last.Action != nil && last.Trigger != nil && *last.Trigger == ByUser {
		if word := d.word(last); word != *last.Action {
			return word
		}
	}
	return firstUpper(state.Name)
}

// firstUpper returns the text with its first letter as a capital.
func firstUpper(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// word says what a log entry of the case is about, without what else the entry
// tells.
func (d *caseDecision) word(entry *LogEntry) string {
	if entry.Kind == LogAction && entry.Action != nil {
		if i := d.route.Action(*entry.Action); i != unknown {
			return past(&d.route.Actions[i])
		}
	}
	if entry.Kind == LogTimer {
		return d.expired[entry.Seq]
	}
	return entry.Text
}

// asChild returns what is told of the case as a child.
func (d *caseDecision) asChild(parent *caseDecision) *ChildNews {
	news := &ChildNews{ParentTitle: parent.c.Title}
	if i := parent.route.Action(d.c.ParentAction); i != unknown && parent.route.Actions[i].Child != nil {
		a := &parent.route.Actions[i]
		several := func(r route.ChildRole) bool { return r.Each != route.PerRole }
		if slices.ContainsFunc(a.Child.Roles, several) {
			if news.Verb = a.Past; news.Verb == a.Name || news.Verb == a.Title {
				news.Verb = ""
			}
		}
	}
	if len(d.log) > 0 && d.log[0].Action != nil {
		if i := d.route.Action(*d.log[0].Action); i != unknown {
			news.Action = title(&d.route.Actions[i])
		}
	}
	if parent.from == nil || !d.hasEnded() {
		return news
	}
	if at := parent.from.placeOf(d.c.ParentEnablement); at >= 0 && parent.from.Enabled[at].Children != nil {
		k := parent.from.Enabled[at].Children
		news.Done, news.Total = k.Completed+k.Canceled+1, k.Total
	}
	return news
}
