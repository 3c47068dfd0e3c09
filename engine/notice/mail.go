package notice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"flowdrive/engine/machine"
)

// Mail returns the mail that tells the recipient.
func (n *Notice) Mail(p *Person) *machine.Mail {
	switch {
	case n.Way != nil:
		return n.wayMail(p)
	case n.Deed != nil:
		return n.deedMail(p)
	case n.Hook != nil:
		return n.hookMail(p)
	case n.Hold != nil:
		return n.holdMail(p)
	case n.Password != nil:
		return n.passwordMail(p)
	case n.Deputy != nil:
		return n.deputyMail(p)
	case n.RouteChange != nil:
		return n.routeChangeMail(p)
	case n.Server != nil:
		return n.serverMail(p)
	case n.Away != nil:
		return n.awayMail(p)
	case n.Case == nil:
		return n.entryMail(p)
	case n.Trouble != nil:
		return n.troubleMail(p)
	}
	return n.caseMail(p)
}

// caseMail says what happened in a case, who did it, what the recipient can do,
// what each of that leads to, and where.
func (n *Notice) caseMail(p *Person) *machine.Mail {
	at := p.At
	l := &letter{Subject: n.Sentence(p)}
	if len(p.Tasks) > 0 {
		l.Opening = n.opening(p)
		l.Tasks, l.Limits = n.tasks(p), n.limits(p)
		l.Closing = append(l.Closing, fmt.Sprintf(`A link opens the form of its task. On the drive each task has a file in %s: save {} to it to do it, {"comment": "…"} to say something with it, {"do": "accept"} to take it on first.`, n.Links.ActionFolder(at.ID)))
	}
	if p.Sees {
		l.Acts = n.acts(p)
	}
	l.Facts = n.facts(at)
	if why := at.MovedByFault(); why != "" {
		l.Facts = append(l.Facts, machine.Fact{Title: "Why it has ended", Text: why})
	}
	n.leadTo(l, at)
	l.Closing = append(l.Closing, p.overToo()...)
	l.Closing = append(l.Closing, "You get this because "+p.because()+". "+n.choose())
	return l.mail(p, at.GUID)
}

// leadTo adds the links to a case: to its page, and for tools to the drive.
func (n *Notice) leadTo(l *letter, c *machine.Case) {
	l.link("The case", n.Links.Case(c.ID))
	l.link("Its log", n.Links.Log(c.ID))
	l.link("On the drive", n.Links.CaseFile(c.ID))
}

// choose says of what kind the mail is, and how a person ends the mails of that kind alone.
// A person who ends all mails is not told of failures either: the mail says so.
func (n *Notice) choose() string {
	return fmt.Sprintf(`This mail is of the kind %q. To get no more of that kind, untick it at %s, or leave %q out of mail.kinds in %s. Mails of failures are another kind and go on. {"notify": false} there would end all mails, those of failures, too.`,
		n.Kind.Title(), n.Links.To("/account"), string(n.Kind), n.Links.To("/dav/Account/me.json"))
}

// opening says that there is something to do.
func (n *Notice) opening(p *Person) string {
	deputy, reminder, absent := len(p.Behalf) > 0, p.Why == machine.ReasonReminder, make([]string, len(p.Behalf))
	for i, name := range p.Behalf {
		absent[i] = n.name(name)
	}
	has := "There is something for you to do"
	switch {
	case deputy && p.hasOwn() && reminder:
		has = "This still waits for you, and for " + InWords(absent) + ", for whom you stand in,"
	case deputy && p.hasOwn():
		has = "There is something to do for you, and for " + InWords(absent) + ", for whom you stand in,"
	case deputy && reminder:
		has = "This still waits for " + InWords(absent) + ", for whom you stand in,"
	case deputy:
		has = "There is something to do for " + InWords(absent)
	case reminder:
		has = "This still waits for you"
	}
	return fmt.Sprintf("%s in case %d, %s:", has, p.At.ID, machine.OneLine(p.At.Title))
}

// tasks returns what the recipient can do.
func (n *Notice) tasks(p *Person) (out []letterTask) {
	for _, task := range p.Tasks {
		t := letterTask{Title: n.Title(task), Link: n.Links.Action(task.Case, task.Action)}
		if absent := p.Lent[task]; absent != "" && (len(p.Behalf) > 1 || p.hasOwn()) {
			t.Lines = append(t.Lines, "You would do it for "+n.name(absent)+".")
		}
		if n.Brief != nil {
			if b, known := n.Brief(task); known {
				t.Lines = append(t.Lines, b.Description, b.Outlook)
				if b.AcceptFirst {
					t.Lines = append(t.Lines, "It must be accepted first.")
				}
				t.Lines = append(t.Lines, n.dates(p, &b)...)
			}
		}
		out = append(out, t)
	}
	return out
}

// dates says by when a task is to be done.
func (n *Notice) dates(p *Person, b *machine.Brief) (lines []string) {
	if b.AcceptBy.After(n.Time) {
		lines = append(lines, "It is offered until "+p.When(b.AcceptBy)+".")
	}
	switch {
	case b.Due.IsZero():
	case b.Due.After(n.Time):
		lines = append(lines, "It is due by "+p.When(b.Due)+".")
	default:
		lines = append(lines, "It was due by "+p.When(b.Due)+".")
	}
	return lines
}

// limits says what happens, and when, if nobody does anything about the tasks: the first in
// time, and each of it once, as the tasks of a case have the limits of the case in common.
// Who may not see the case is told of the limits of the tasks alone.
func (n *Notice) limits(p *Person) (lines []string) {
	const most = 5
	if n.Brief == nil {
		return nil
	}
	var all []machine.TimeLimit
	for _, task := range p.Tasks {
		b, _ := n.Brief(task)
		for _, l := range b.Limits {
			own := l.Kind == machine.DueTimer || l.Kind == machine.OfferTimer
			if own && len(p.Tasks) > 1 {
				l.Then = n.Title(task) + ": " + l.Then
			}
			if (own || p.Sees) && l.At.After(n.Time) && !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b machine.TimeLimit) int { return a.At.Compare(b.At) })
	for _, l := range all[:min(len(all), most)] {
		lines = append(lines, p.When(l.At)+": "+l.Then)
	}
	return lines
}

// acts returns what was done, and what was said with it.
func (n *Notice) acts(p *Person) (out []letterAct) {
	for i := range n.Acts {
		a := &n.Acts[i]
		act := letterAct{Line: n.describeAct(a, p)}
		if a.Comment != nil {
			act.Said = strings.Split(strings.TrimSpace(*a.Comment), "\n")
		}
		out = append(out, act)
	}
	return out
}

// facts returns what is said of a case: its title, its route, who asked, and the
// XATTRs that the route declares.
func (n *Notice) facts(c *machine.Case) []machine.Fact {
	facts := []machine.Fact{{Title: "Case", Text: fmt.Sprintf("%d, %s", c.ID, c.Title)}}
	for _, f := range []machine.Fact{{Title: "Route", Text: c.RouteName}, {Title: "Asked by", Text: n.name(c.Starter)}} {
		if f.Text != "" {
			facts = append(facts, f)
		}
	}
	if n.Facts == nil {
		return facts
	}
	return append(facts, n.Facts(c)...)
}

// describeAct says in a line what was done: "Approved by Ann (open → done)".
func (n *Notice) describeAct(entry *machine.LogEntry, p *Person) string {
	text := machine.OneLine(entry.Text)
	if entry.Kind == machine.LogTimer {
		name, _, _ := strings.Cut(strings.TrimPrefix(text, "TimerExpired: "), " (")
		text = "The timer " + name + " has expired"
	}
	if entry.Actor != nil && *entry.Actor != machine.ActorTimer {
		text += " by " + n.name(*entry.Actor)
		if entry.OnBehalfOf != nil {
			text += " for " + n.name(*entry.OnBehalfOf)
		}
	}
	if entry.From != nil && entry.To != nil {
		text += " (" + *entry.From + " → " + *entry.To + ")"
	}
	return text + ", " + p.When(entry.Time)
}

// hasOwn reports whether a deputy is told of tasks of their own as well.
func (p *Person) hasOwn() bool { return len(p.Tasks) > len(p.Lent) }

// InWords lists names: "ann, bob and eve".
func InWords(names []string) string { return english.WordSeries(names, "and") }

// because says why a person is told.
func (p *Person) because() string {
	if len(p.Behalf) > 0 {
		own := ""
		if p.hasOwn() {
			own = "have something to do yourself, and "
		}
		return "you " + own + "stand in for " + InWords(p.Behalf)
	}
	switch p.Why {
	case machine.ReasonTask, machine.ReasonReminder:
		return "the task is yours"
	case machine.ReasonDeputy:
		return "you stand in for a user who has the task"
	case machine.ReasonPlayer:
		return "you play a role in the case"
	case machine.ReasonStakeholder:
		return "you are a stakeholder of the case"
	case machine.ReasonStarter:
		return "you started the case"
	case machine.ReasonContext:
		return "the case is yours"
	case machine.ReasonOwner:
		return "the schedule entry is yours"
	case machine.ReasonTeam:
		return "you administer the team that this belongs to"
	case machine.ReasonAdmin:
		return "you administer the route"
	case machine.ReasonServer:
		return "you administer the server"
	case machine.ReasonTold:
		return "you were told when it went wrong"
	case machine.ReasonWatcher:
	}
	return "you watch the route"
}

// subjectLine makes a subject of a text: one line, and not a long one.
func subjectLine(text string) string {
	const most = 120
	text = machine.OneLine(text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
