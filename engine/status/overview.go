package status

import (
	"fmt"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
)

// MostUpcoming is of how many entries an overview tells the next firing.
const MostUpcoming = 10

// Overview is how things stand for who looks, on a page.
type Overview struct {
	Zone    Zone
	User    string
	Sandbox bool // nothing is done outside

	Offered, Accepted, Today int // tasks
	Late                     *Late
	Cases                    map[machine.Life]int // that have not ended, or have failed

	AllEntries bool // the schedule entries are those of all users

	Entries int // schedule entries
	Paused  []string
	// OwnerDisabled are those that are not paused and start no cases all the same.
	OwnerDisabled []string
	Failing       []string     // that could not fire the last time
	Next          []NextFiring // of each entry, the earliest
}

// NextFiring is the next instant of an entry.
type NextFiring struct {
	At          time.Time
	Name, Title string
}

// open returns how many cases are open.
func (o *Overview) open() (n int) {
	for life, count := range o.Cases {
		if life != machine.Failed {
			n += count
		}
	}
	return n
}

// Text returns the file for people.
func (o *Overview) Text() []byte {
	var p page
	p.line("How things stand for %s. Times are those of %s.", o.User, o.Zone)
	if o.Sandbox {
		p.line("%s", sandboxed)
	}
	p.heading("Your tasks (Worklist/)")
	p.table([][]string{
		{"offered to you", fmt.Sprint(o.Offered)}, {"accepted by you", fmt.Sprint(o.Accepted)}, {"due by the end of today", fmt.Sprint(o.Today)},
	}, "")
	p.heading("Cases (Cases/)")
	rows := [][]string{{"open", fmt.Sprint(o.open())}}
	for _, life := range []machine.Life{machine.StateDraft, machine.Queued, machine.Active, machine.Suspended, machine.Failed} {
		name := "of these " + string(life)
		switch life {
		case machine.StateDraft:
			name = "of these drafts"
		case machine.Queued:
			name = "of these waiting to start"
		case machine.Failed:
			name = "failed"
		case machine.Active, machine.Suspended, machine.Completed, machine.Closed, machine.Canceled:
		}
		rows = append(rows, []string{name, fmt.Sprint(o.Cases[life])})
	}
	p.table(rows, "")
	p.heading("What is late (late.txt)")
	p.table([][]string{
		{"overdue", fmt.Sprint(o.Late.Count(LateOverdue))},
		{"warnings", fmt.Sprint(o.Late.Count(LateWarning))},
		{"could not be done by the server", fmt.Sprint(o.Late.Count(LateEscalated))},
		{"holds", fmt.Sprint(o.Late.CountOthers(OtherHold))},
		{"wrong elsewhere", fmt.Sprint(len(o.Late.Others) - o.Late.CountOthers(OtherHold))},
	}, "")
	if o.AllEntries {
		p.heading("Schedule entries of all users (schedule/)")
	} else {
		p.heading("Schedule entries (schedule/)")
	}
	rows = [][]string{{"in force", fmt.Sprint(o.inForce())}, {"paused", counted(o.Paused)}}
	if len(o.OwnerDisabled) > 0 {
		rows = append(rows, []string{"owner disabled", counted(o.OwnerDisabled)})
	}
	p.table(append(rows, []string{"could not fire", counted(o.Failing)}), "")
	if o.AllEntries {
		p.heading("What fires next, of all users")
	} else {
		p.heading("What fires next (week.txt)")
	}
	next := make([][]string, len(o.Next))
	for i, n := range o.Next {
		next[i] = []string{o.Zone.Minute(n.At), n.Name, machine.OneLine(n.Title)}
	}
	p.table(next, "No firing is to come.")
	return p.bytes()
}

// inForce returns how many entries start cases.
func (o *Overview) inForce() int { return o.Entries - len(o.Paused) - len(o.OwnerDisabled) }

// counted writes how many names there are, and the first ones.
func counted(names []string) string {
	const shown = 5
	text := fmt.Sprint(len(names))
	if len(names) == 0 {
		return text
	}
	text += ": " + list(names[:min(len(names), shown)])
	if len(names) > shown {
		text += ", …"
	}
	return text
}

type overviewForm struct {
	User     string          `json:"user"`
	Timezone string          `json:"timezone"`
	Sandbox  bool            `json:"sandbox"`
	Tasks    overviewTasks   `json:"tasks"`
	Cases    overviewCases   `json:"cases"`
	Late     overviewLate    `json:"late"`
	Entries  overviewEntries `json:"entries"`
	Next     []nextForm      `json:"next"`
}

type overviewTasks struct {
	Offered  int `json:"offered"`
	Accepted int `json:"accepted"`
	Today    int `json:"today"`
}

type overviewCases struct {
	Open      int `json:"open"`
	Draft     int `json:"draft"`
	Queued    int `json:"queued"`
	Active    int `json:"active"`
	Suspended int `json:"suspended"`
	Failed    int `json:"failed"`
}

type overviewLate struct {
	Overdue   int `json:"overdue"`
	Warnings  int `json:"warnings"`
	Escalated int `json:"escalated"`
	Failed    int `json:"failed"`
	Holds     int `json:"holds"`
	Others    int `json:"others"`
}

type overviewEntries struct {
	InForce  int      `json:"inForce"`
	Paused   []string `json:"paused"`
	Disabled []string `json:"ownerDisabled"`
	Failing  []string `json:"failing"`
}

type nextForm struct {
	At    *string `json:"at"`
	Entry string  `json:"entry"`
	Title string  `json:"title"`
}

// JSON returns the file for programs.
func (o *Overview) JSON() []byte {
	f := overviewForm{
		User: o.User, Timezone: o.Zone.String(), Sandbox: o.Sandbox, Tasks: overviewTasks{o.Offered, o.Accepted, o.Today},
		Cases:   overviewCases{o.open(), o.Cases[machine.StateDraft], o.Cases[machine.Queued], o.Cases[machine.Active], o.Cases[machine.Suspended], o.Cases[machine.Failed]},
		Late:    overviewLate{o.Late.Count(LateOverdue), o.Late.Count(LateWarning), o.Late.Count(LateEscalated), o.Late.Count(LateFailed), o.Late.CountOthers(OtherHold), len(o.Late.Others) - o.Late.CountOthers(OtherHold)},
		Entries: overviewEntries{o.inForce(), append([]string{}, o.Paused...), append([]string{}, o.OwnerDisabled...), append([]string{}, o.Failing...)},
		Next:    make([]nextForm, len(o.Next)),
	}
	for i, n := range o.Next {
		f.Next[i] = nextForm{o.Zone.instant(n.At), n.Name, n.Title}
	}
	return document.Form(f)
}
