package status

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
)

// LateKind is why something is on the list of what is late.
type LateKind string

// Why something is on the list, in its order.
const (
	LateOverdue   LateKind = "overdue"   // its date has passed
	LateWarning   LateKind = "warning"   // it has a warning
	LateEscalated LateKind = "escalated" // the server could not do it
	LateFailed    LateKind = "failed"    // the case has failed
)

// LateItem is a task, or a case, that is late or has failed.
type LateItem struct {
	Kind  LateKind
	Case  int64
	Title string // of the case
	What  string // the title of the action, "" if it is the case itself
	Who   []string
	Since time.Time
	Text  string

	Action string  // the name of the action, "" if it is the case itself
	May    LateMay // what who looks can do about it
}

// LateMay is what mends something that is late.
type LateMay string

// What mends it.
const (
	LateMayNothing LateMay = ""
	LateMayPerform LateMay = "perform"
	LateMayDate    LateMay = "date"   // give the task another date
	LateMayRetry   LateMay = "retry"  // have the action tried again
	LateMayStart   LateMay = "start"  // have the case tried again
	LateMayResume  LateMay = "resume" // have the case go on
)

// OtherKind is of what something that is wrong outside of the cases is.
type OtherKind string

// What can fail outside of cases.
const (
	OtherEntry       OtherKind = "entry"       // a schedule entry cannot create its case
	OtherHold        OtherKind = "hold"        // an administrator keeps cases from starting
	OtherHook        OtherKind = "hook"        // a hook refuses requests by its own fault
	OtherRoute       OtherKind = "route"       // a route names what the settings lack
	OtherServer      OtherKind = "server"      // a part of the server
	OtherDestination OtherKind = "destination" // a way by which people and services are told
)

// Other is something that is wrong outside of the cases.
type Other struct {
	Kind  OtherKind
	Name  string // the file of an entry in schedule/, a hook after its route, what people call the others
	Title string // of an entry, "" for none
	Path  string // its page, "" for none
	Since time.Time
	Text  string
}

// Late is what is late or has failed, as far as who looks has a part in it.
type Late struct {
	Zone   Zone
	Items  []LateItem
	More   bool // there are more than are shown
	Others []Other

	// Untold is why no administrator is told outside of the drive of what fails, "" if
	// one is, or for people who cannot change that.
	Untold string
}

// Sort puts the items into their order: by kind, then the oldest first.
func (l *Late) Sort() {
	order := []LateKind{LateOverdue, LateWarning, LateEscalated, LateFailed}
	slices.SortStableFunc(l.Others, func(a, b Other) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Name, b.Name)) })
	slices.SortStableFunc(l.Items, func(a, b LateItem) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), a.Since.Compare(b.Since), cmp.Compare(a.Case, b.Case))
	})
}

// Once leaves each failed case on the list once: a case that has failed because of
// something that the server could not do is there for that, and a warning that says why
// a case has failed is told with the case.
func (l *Late) Once() {
	failed := map[int64]string{}
	escalated := map[int64]bool{}
	for i := range l.Items {
		switch item := &l.Items[i]; item.Kind {
		case LateFailed:
			failed[item.Case] = item.Text
		case LateEscalated:
			escalated[item.Case] = true
		case LateOverdue, LateWarning:
		}
	}
	l.Items = slices.DeleteFunc(l.Items, func(item LateItem) bool {
		why, hasFailed := failed[item.Case]
		return item.Kind == LateFailed && escalated[item.Case] || item.Kind == LateWarning && item.What == "" && hasFailed && !escalated[item.Case] && item.Text == why
	})
}

// Count returns how many items are of the kind.
func (l *Late) Count(kind LateKind) (n int) {
	for i := range l.Items {
		if l.Items[i].Kind == kind {
			n++
		}
	}
	return n
}

// CountOthers returns how much of the kind is wrong outside of the cases.
func (l *Late) CountOthers(kind OtherKind) (n int) {
	for i := range l.Others {
		if l.Others[i].Kind == kind {
			n++
		}
	}
	return n
}

// Text returns the file for people.
func (l *Late) Text() []byte {
	var p page
	p.line("What is late, or could not be done: your tasks, the cases that you started, and\nthose of routes that you administer.")
	for _, part := range []struct {
		kind        LateKind
		title, none string
	}{
		{LateOverdue, "Overdue", "Nothing is overdue."},
		{LateWarning, "Warnings", "There are no warnings."},
		{LateEscalated, "Could not be done by the server", "The server could do everything."},
		{LateFailed, "Failed cases", "No case has failed."},
	} {
		var rows [][]string
		for i := range l.Items {
			if item := &l.Items[i]; item.Kind == part.kind {
				rows = append(rows, l.row(item))
			}
		}
		if part.kind == LateFailed && l.Count(LateEscalated) > 0 {
			part.none = "No other case has failed."
		}
		p.heading(part.title)
		p.table(rows, part.none)
	}
	if len(l.Others) > 0 {
		rows := make([][]string, len(l.Others))
		for i := range l.Others {
			o := &l.Others[i]
			rows[i] = []string{l.Zone.Minute(o.Since), o.About(), l.Says(o)}
		}
		p.heading("Outside of cases")
		p.table(rows, "")
	}
	if l.More {
		p.line("\nThere is more than is shown here.")
	}
	if l.Untold != "" {
		p.line("\n" + l.Untold)
	}
	return p.bytes()
}

// About returns what it is about, in words.
func (o *Other) About() string {
	about := machine.OneLine(o.Name)
	if o.Kind == OtherEntry || o.Kind == OtherHook || o.Kind == OtherRoute {
		about = map[OtherKind]string{OtherEntry: "schedule entry ", OtherHook: "hook ", OtherRoute: "route "}[o.Kind] + about
	}
	if o.Title != "" {
		about += ": " + machine.OneLine(o.Title)
	}
	return about
}

// Says returns the text of what is wrong outside of the cases, for people.
func (l *Late) Says(o *Other) string { return l.Zone.words(reason(o.Text)) }

func (l *Late) row(item *LateItem) []string {
	about := fmt.Sprintf("case %d: %s", item.Case, machine.OneLine(item.Title))
	what := machine.OneLine(item.What)
	text := l.Zone.words(item.Text)
	if who := list(item.Who); who != "" && what != "" {
		what += ", waits for " + who
	} else if who != "" {
		what = "waits for " + who
	}
	if item.Kind == LateOverdue {
		return []string{"since " + l.Zone.Minute(item.Since), about, what}
	}
	return []string{l.Zone.Minute(item.Since), about, what, text}
}

type lateForm struct {
	Timezone string         `json:"timezone"`
	Items    []lateItemForm `json:"items"`
	More     bool           `json:"more"`
	Others   []otherForm    `json:"others"`
	Untold   *string        `json:"untold"`
}

type lateItemForm struct {
	Kind  LateKind `json:"kind"`
	Case  int64    `json:"case"`
	Title string   `json:"caseTitle"`
	What  *string  `json:"title"`
	Who   []string `json:"who"`
	Since *string  `json:"since"`
	Text  *string  `json:"text"`
}

type otherForm struct {
	Kind  OtherKind `json:"kind"`
	Name  string    `json:"name"`
	Title *string   `json:"title"`
	Since *string   `json:"since"`
	Text  string    `json:"text"`
}

// JSON returns the file for programs.
func (l *Late) JSON() []byte {
	f := lateForm{Timezone: l.Zone.String(), Items: make([]lateItemForm, len(l.Items)), More: l.More, Others: make([]otherForm, len(l.Others)), Untold: orNull(l.Untold)}
	for i := range l.Items {
		item := &l.Items[i]
		f.Items[i] = lateItemForm{item.Kind, item.Case, item.Title, orNull(item.What), append([]string{}, item.Who...), l.Zone.instant(item.Since), orNull(item.Text)}
	}
	for i := range l.Others {
		o := &l.Others[i]
		f.Others[i] = otherForm{o.Kind, o.Name, orNull(o.Title), l.Zone.instant(o.Since), l.Says(o)}
	}
	return document.Form(f)
}
