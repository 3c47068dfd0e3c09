package notice

import (
	"fmt"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/identity"
)

// Away is a time in which there was no server, and what came due in it.
type Away struct {
	From, To time.Time
	Stopped  bool // in good order
	Entries  int  // schedule entries with instants that are late or skipped
	Late     int  // instants whose cases are created late
	Skipped  int  // instants that are skipped
	Cases    int  // in which something was due
	More     bool // there was more than was counted
	Own      map[identity.Name]*Missed
}

// Missed are the schedule entries of one person.
type Missed struct {
	Entries []MissedEntry // the first of them
	Count   int           // all of them
}

// MissedEntry is a schedule entry with instants that are late or skipped.
type MissedEntry struct {
	UUID, Title   string
	First         time.Time
	Late, Skipped int
}

// mostMissedListed is how many schedule entries a mail lists.
const mostMissedListed = 20

// Add adds an entry.
func (m *Missed) Add(entry MissedEntry) {
	if m.Count++; len(m.Entries) < mostMissedListed {
		m.Entries = append(m.Entries, entry)
	}
}

// how says how the server ended.
func (a *Away) how() string {
	if a.Stopped {
		return "stopped"
	}
	return "no clean stop"
}

// awaySentence says in a line when the server was away.
func (n *Notice) awaySentence(p *Person) string {
	if p == nil {
		p = &Person{Zone: n.Zone}
	}
	return fmt.Sprintf("Flowdrive was away from %s to %s (%s)", p.When(n.Away.From), p.When(n.Away.To), n.Away.how())
}

// awayMail tells an administrator what came due while the server was away, and everybody
// of their own schedule entries.
func (n *Notice) awayMail(p *Person) *machine.Mail {
	a := n.Away
	l := &letter{Subject: n.Sentence(p), Opening: n.Sentence(p) + "."}
	if p.Why == machine.ReasonServer {
		count := func(of int) string {
			if a.More {
				return fmt.Sprintf("%d or more", of)
			}
			return fmt.Sprint(of)
		}
		l.Facts = append(
			l.Facts,
			machine.Fact{Title: "Schedule entries with instants in that time", Text: count(a.Entries)},
			machine.Fact{Title: "Instants that start late", Text: count(a.Late)},
			machine.Fact{Title: "Instants that are skipped", Text: count(a.Skipped)},
			machine.Fact{Title: "Cases in which something comes late", Text: count(a.Cases)},
		)
	}
	if own := a.Own[p.Name]; own != nil {
		for i := range own.Entries {
			e := &own.Entries[i]
			l.Facts = append(l.Facts, machine.Fact{Title: e.Title, Text: fmt.Sprintf("%s, the first at %s, %s", e.became(), p.When(e.First), n.Links.History(e.UUID))})
		}
		if more := own.Count - len(own.Entries); more > 0 {
			l.Closing = append(l.Closing, fmt.Sprintf("And %d more schedule entries of yours.", more))
		}
	}
	l.link("What is late", n.Links.To(latePage))
	if p.Why == machine.ReasonServer {
		if !a.Stopped {
			l.Closing = append(l.Closing, "It was not stopped in good order: the program or the machine has ended. The log of the server and of the machine may say why.")
		}
		l.link("On the drive", n.Links.To(StatusPath))
	}
	if a.Late+a.Skipped > 0 {
		l.Closing = append(l.Closing, `Whether the case of a missed instant starts late or is skipped says "misfire" of the schedule entry. An instant that was skipped can be made up for: flowdrive schedule backfill. You are not told of each of these instants.`)
	}
	l.Closing = append(l.Closing, "You get this because "+p.because()+".")
	return l.mail(p, "server away")
}

// became says what becomes of the instants.
func (e *MissedEntry) became() string {
	switch {
	case e.Late == 0:
		return fmt.Sprintf("%d skipped", e.Skipped)
	case e.Skipped == 0:
		return fmt.Sprintf("%d late", e.Late)
	}
	return fmt.Sprintf("%d late, %d skipped", e.Late, e.Skipped)
}
