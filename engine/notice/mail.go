package notice

import (
	"fmt"
	"strings"
	"time"

	"flowdrive/engine/machine"
)

// Mail returns the mail that tells the recipient.
func (n *Notice) Mail(p *Person) *machine.Mail {
	switch {
	case n.Way != nil:
		return n.wayMail(p)
	case n.Case == nil:
		return n.entryMail(p)
	case n.Trouble != nil:
		return n.troubleMail(p)
	}
	return n.caseMail(p)
}

// caseMail says what happened in a case, who did it, what the recipient can do,
// and where.
func (n *Notice) caseMail(p *Person) *machine.Mail {
	at := p.At
	var b strings.Builder
	if len(p.Tasks) > 0 {
		n.writeTasks(&b, p)
	} else {
		fmt.Fprintf(&b, "%s\n\n", machine.OneLine(n.Sentence(p)))
	}
	n.writeActs(&b, p)
	folder := fmt.Sprintf("/dav/Workflow/Cases/%d", at.ID)
	fmt.Fprintf(&b, "The case:  %s.json\nIts log:   %s/log.txt\n\n", folder, folder)
	if len(p.Tasks) > 0 {
		b.WriteString("Save {} to the file of a task to do it, {\"comment\": \"…\"} to say something with\nit, {\"do\": \"accept\"} to take it on first.\n\n")
	}
	fmt.Fprintf(&b, "You get this because %s. With {\"notify\": false} saved to\n/dav/Account/me.json there are no more such mails.\n", p.because())
	return &machine.Mail{To: []string{p.Email}, Subject: subjectLine(n.Sentence(p)), Text: b.String(), Thread: at.GUID}
}

func (n *Notice) writeTasks(b *strings.Builder, p *Person) {
	has := "There is something for you to do"
	switch {
	case p.Why == machine.ReasonReminder:
		has = "This still waits for you"
	case p.Behalf != "":
		has = "There is something to do for " + p.Behalf
	}
	fmt.Fprintf(b, "%s in case %d, %s:\n\n", has, p.At.ID, machine.OneLine(p.At.Title))
	for _, task := range p.Tasks {
		fmt.Fprintf(b, "  %s\n  /dav/Workflow/Cases/%d/Actions/%s.json\n\n", machine.OneLine(n.Title(task)), task.Case, task.Action)
	}
}

// writeActs writes what was done, and what was said with it, if the person may see
// the case in which it was done.
func (n *Notice) writeActs(b *strings.Builder, p *Person) {
	acts := n.Acts
	if !p.Sees {
		return
	}
	for i := range acts {
		b.WriteString("  " + describeAct(&acts[i]) + "\n")
		if c := acts[i].Comment; c != nil {
			for said := range strings.SplitSeq(strings.TrimSpace(*c), "\n") {
				b.WriteString("  > " + machine.OneLine(said) + "\n")
			}
		}
	}
	if len(acts) > 0 {
		b.WriteByte('\n')
	}
}

// describeAct says in a line what was done: "Approved by ann (open → done)".
func describeAct(entry *machine.LogEntry) string {
	text := machine.OneLine(entry.Text)
	if entry.Actor != nil && *entry.Actor != machine.ActorTimer {
		text += " by " + *entry.Actor
		if entry.OnBehalfOf != nil {
			text += " for " + *entry.OnBehalfOf
		}
	}
	if entry.From != nil && entry.To != nil {
		text += " (" + *entry.From + " → " + *entry.To + ")"
	}
	return text + ", " + entry.Time.UTC().Format(time.RFC3339)
}

// because says why a person is told.
func (p *Person) because() string {
	if p.Behalf != "" {
		return "you stand in for " + p.Behalf
	}
	switch p.Why {
	case machine.ReasonTask, machine.ReasonReminder:
		return "the task is yours"
	case machine.ReasonPlayer:
		return "you play a role in the case"
	case machine.ReasonStakeholder:
		return "you are a stakeholder of the case"
	case machine.ReasonStarter:
		return "you started the case"
	case machine.ReasonOwner:
		return "the schedule entry is yours"
	case machine.ReasonAdmin:
		return "you administer the route"
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
