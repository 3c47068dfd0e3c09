package notice

import (
	"fmt"
	"strconv"
	"strings"

	"flowdrive/engine/machine"
)

// What says in what way something is wrong.
type What string

// What can be wrong.
const (
	WhatFailed    What = "failed"       // the engine could not do something in a case
	WhatUnstarted What = "not-started"  // a case could not start, or a schedule entry not make one
	WhatOverdue   What = "overdue"      // a timer is due, and nothing in the route handles it
	WhatUnstaffed What = "nobody-there" // nobody can do a task
	WhatDelayed   What = "delayed"      // a delivery has not got through for an hour, and is still tried
	WhatSlow      What = "slow"         // a case of a schedule entry takes longer than usual
	WhatHandler   What = "handler"      // steps of a handler failed and were undone, and the case goes on
	WhatCondition What = "condition"    // guard, enableIf or complete cannot be evaluated, and counts as false
	WhatUnfilled  What = "unfilled"     // a case of a schedule entry has labels as they are written
	WhatPaused    What = "paused"       // a schedule entry was paused together with something else
	WhatDaysOff   What = "days-off"     // the calendar of a schedule entry cannot be used
	WhatSkipped   What = "skipped"      // a schedule entry has passed over an instant, as its policies ask for
	WhatHeld      What = "held"         // an administrator keeps a case from starting
	WhatSuspended What = "suspended"    // a case is suspended for a day, and nothing resumes it by itself
)

// Kind returns the kind of notice that tells of it.
func (w What) Kind() Kind {
	if w == WhatOverdue || w == WhatDelayed || w == WhatSlow || w == WhatSkipped || w == WhatSuspended || w == WhatHeld {
		return KindOverdue
	}
	return KindFailure
}

// troubleSentence says in a line what is wrong, still wrong or mended.
func (n *Notice) troubleSentence() string {
	t := n.Trouble
	var title string
	switch {
	case n.Entry != nil:
		if title = n.Entry.Title; t.Entries != nil {
			title = t.Entries.title()
		}
	case n.Hook != nil:
		title = n.Hook.title()
	case n.Server != nil:
		title = n.Server.Title
	default:
		title = n.Case.Title
	}
	if t.Again && t.Alike > 0 {
		title = fmt.Sprintf("%s (%d cases)", title, t.Alike+1)
	}
	if n.Kind == KindMended {
		return t.over(title)
	}
	open := t.open(title)
	if t.Again {
		return "Still " + lowerFirst(open)
	}
	return open
}

func (t *Trouble) open(title string) string {
	switch t.What {
	case WhatUnstarted:
		if t.Text == "" {
			return "Not started: " + title
		}
		return "Not started: " + title + ": " + t.Text
	case WhatOverdue, WhatUnstaffed:
		return titled(t.Word, title)
	case WhatDelayed:
		return "Not delivered yet: " + title + ": " + t.Text
	case WhatSlow:
		return "Takes longer than usual: " + title
	case WhatPaused:
		return "Paused: " + title
	case WhatUnfilled:
		return "Labels are not filled: " + title + ": " + t.Text
	case WhatDaysOff:
		return "Days off are not known: " + title + ": " + t.Text
	case WhatSkipped:
		return "Skipped: " + title + ": " + t.Text
	case WhatSuspended:
		return "Suspended: " + title
	case WhatHeld:
		return "Held back: " + title
	case WhatFailed, WhatHandler, WhatCondition:
	}
	return "Failed: " + title + ": " + t.Text
}

// over says in a line that it is over, and how.
func (t *Trouble) over(title string) string {
	plain := title
	if t.OverCount > 0 {
		title = fmt.Sprintf("%s (%d cases)", title, t.OverCount+1)
	}
	switch {
	case t.Over == EndCanceled:
		return "Canceled: " + title
	case t.Over == EndDeleted:
		return "Deleted: " + title
	case t.What == WhatUnstaffed && t.Over == EndGivenUp:
		return titled("Given up: "+t.unstaffedTask(), title)
	case t.What == WhatUnstaffed && t.Over == EndPassed:
		return titled("Not needed any more: "+t.unstaffedTask(), title)
	case t.Over == EndGivenUp:
		return "Given up: " + title
	case t.Over == EndLater:
		return "Mended: " + title
	case t.What == WhatUnstarted:
		return "Started: " + title
	case t.What == WhatOverdue:
		return "No longer " + lowerFirst(titled(t.Word, title))
	case t.What == WhatUnstaffed:
		word := strings.Replace(withoutReasons(t.Word), "Nobody", "Somebody", 1)
		if t.isQuorum() {
			word, _, _ = strings.Cut(strings.Replace(word, "cannot", "can", 1), " (it needs ")
		}
		return titled(word, title)
	case t.Over == EndPassed:
		return "No longer failed: " + title
	case t.What == WhatDelayed:
		return "Delivered: " + title
	case t.What == WhatSlow:
		return "Ended after all: " + title
	case t.What == WhatSuspended || t.What == WhatPaused:
		return "Resumed: " + title
	case len(t.Others) > 0:
		return "Mended: " + plain + " (" + t.othersBriefly() + ")"
	}
	return "Mended: " + title
}

// othersBriefly says in how many cases of the schedule entry it is over, and that others are
// still failed.
func (t *Trouble) othersBriefly() (text string) {
	if t.OverCount > 0 {
		text = fmt.Sprintf("%d cases; ", t.OverCount+1)
	}
	if len(t.Others) == 1 {
		return text + fmt.Sprintf("case %d is still failed", t.Others[0])
	}
	return text + fmt.Sprintf("%d other cases are still failed", len(t.Others))
}

// withoutReasons returns the word of WhatUnstaffed without the users who are disabled or may not
// do it: these are reasons only as long as it is wrong.
func withoutReasons(word string) string {
	for _, reason := range []string{" is disabled)", " are disabled)", ", and may not do this one)"} {
		if at := strings.LastIndex(word, " ("); at >= 0 && strings.HasSuffix(word, reason) {
			word = word[:at]
		}
	}
	return word
}

// unstaffedTask returns what people call the task of WhatUnstaffed.
func (t *Trouble) unstaffedTask() string {
	_, task, _ := strings.Cut(withoutReasons(t.Word), ": ")
	if t.isQuorum() {
		task, _, _ = strings.Cut(task, " (it needs ")
	}
	return task
}

// isQuorum reports whether some can do the task of WhatUnstaffed, but too few.
func (t *Trouble) isQuorum() bool { return strings.Contains(t.Word, "quorum cannot be reached: ") }

// others says which other cases of the schedule entry are still failed, and how they are mended.
func (t *Trouble) others() string {
	ids := make([]string, len(t.Others))
	for i, id := range t.Others {
		ids[i] = strconv.FormatInt(id, 10)
	}
	if len(ids) == 1 {
		return fmt.Sprintf("Another case of its schedule entry is still failed: %s. With the command line: flowdrive resume %s", ids[0], ids[0])
	}
	return fmt.Sprintf("Other cases of its schedule entry are still failed: %s. With the command line: flowdrive resume %s", strings.Join(ids, ", "), strings.Join(ids, " "))
}

// alike says that other cases of the schedule entry have failed in the same way.
func (t *Trouble) alike() string {
	switch {
	case t.Alike == 1 && t.LastAlike != 0:
		return fmt.Sprintf("It has happened in a later case of its schedule entry as well: %d. You are told of it with this one.", t.LastAlike)
	case t.LastAlike != 0:
		return fmt.Sprintf("It has happened in %d later cases of its schedule entry as well, and last in case %d. You are told of them with this one.", t.Alike, t.LastAlike)
	}
	return fmt.Sprintf("It has happened in later cases of its schedule entry as well: %d. You are told of them with this one.", t.Alike)
}

// overAlike says in which other cases of the schedule entry it was wrong, and how it is over
// there if it was not mended.
func (t *Trouble) overAlike() string {
	ids := make([]string, len(t.OverIn))
	for i, in := range t.OverIn {
		ids[i] = strconv.FormatInt(in.Case, 10)
		if word := map[End]string{EndGivenUp: "given up", EndCanceled: "canceled", EndDeleted: "deleted"}[in.End]; word != "" {
			ids[i] += " (" + word + ")"
		}
	}
	list := strings.Join(ids, ", ")
	if more := t.OverCount - len(t.OverIn); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	if t.OverCount == 1 {
		return "It was wrong in another case of its schedule entry as well: " + list + "."
	}
	return fmt.Sprintf("It was wrong in %d other cases of its schedule entry as well: %s.", t.OverCount, list)
}

// ending says in a sentence how it is over.
func (t *Trouble) ending() string {
	by := byWhom(t.By)
	switch {
	case t.Over == EndCanceled:
		return "The case was canceled" + by
	case t.Over == EndDeleted:
		return "It was deleted" + by
	case t.Over == EndGivenUp:
		return "It was given up" + by + ", and is not tried again"
	case t.Over == EndPassed:
		return "The case has gone on without it"
	case t.Over == EndLater && t.LaterEnd != "":
		return fmt.Sprintf("Case %d, a later one of the same schedule entry, went well: %s", t.Later, machine.OneLine(t.LaterEnd))
	case t.Over == EndLater:
		return fmt.Sprintf("Case %d, a later one of the same schedule entry, went well", t.Later)
	case t.What == WhatDelayed:
		return "It has been delivered"
	case t.What == WhatSlow:
		return "The case has ended"
	case t.What == WhatSuspended:
		return "The case was resumed" + by
	case t.What == WhatUnstarted:
		return "The case has started"
	case t.What == WhatOverdue:
		return "The task is done, its time was set again, or the case has left the state"
	case t.What == WhatHandler:
		return "It has run to its end"
	case t.What == WhatCondition:
		return "It could be evaluated"
	case t.What == WhatUnstaffed && t.isQuorum():
		return "There are enough users who can do it"
	case t.What == WhatUnstaffed:
		return "There is somebody who can do it"
	}
	return "It was done when it was tried again"
}

// troubleOpening says in what way something is wrong with a case, before what it is.
func (n *Notice) troubleOpening(p *Person) string {
	t := n.Trouble
	about := fmt.Sprintf("case %d, %s", n.Case.ID, machine.OneLine(n.Case.Title))
	switch {
	case n.Kind == KindMended:
		return t.ending() + ". What had been wrong since " + p.When(t.Since) + ":"
	case t.What == WhatSuspended:
		return fmt.Sprintf("%s, has been suspended since %s, and nothing resumes it by itself:", upperFirst(about), p.When(t.Since))
	case t.Again:
		return "This has been wrong since " + p.When(t.Since) + ":"
	case t.What == WhatFailed || t.What == WhatHandler || t.What == WhatCondition:
		return "This has failed in " + about + ":"
	case t.What == WhatDelayed:
		return "A delivery of " + about + ", does not get through:"
	case t.What == WhatSlow:
		return upperFirst(about) + ", takes longer than usual:"
	case t.What == WhatUnstarted:
		return upperFirst(about) + ", could not start:"
	case t.What == WhatHeld:
		return upperFirst(about) + ", does not start yet:"
	}
	return n.troubleSentence()
}

// troubleMail says what is wrong with a case, since when, who mends it and how.
func (n *Notice) troubleMail(p *Person) *machine.Mail {
	t, c := n.Trouble, n.Case
	l := &letter{Subject: n.Sentence(p), Opening: n.troubleOpening(p), Detail: p.text(t.Text)}
	l.Facts = n.facts(c)
	n.leadTo(l, c)
	if n.Kind != KindMended {
		n.open(l, p)
	}
	if n.Kind != KindMended && t.Alike > 0 {
		l.Closing = append(l.Closing, t.alike())
	}
	if n.Kind == KindMended && t.OverCount > 0 {
		l.Closing = append(l.Closing, t.overAlike())
	}
	if len(t.Others) > 0 {
		l.Closing = append(l.Closing, t.others())
	}
	if t.Over == EndLater {
		l.Closing = append(l.Closing, n.stillFailed(p))
	}
	if p.Sees {
		l.Acts = n.acts(p)
	}
	l.Closing = append(l.Closing, p.overToo()...)
	l.Closing = append(l.Closing, "You get this because "+p.because()+".")
	return l.mail(p, c.GUID)
}

// stillFailed says that a case is failed still though a later one went well.
func (n *Notice) stillFailed(p *Person) string {
	text := fmt.Sprintf("Case %d itself is failed still; nobody is told of it again.", n.Case.ID)
	if n.Trouble.OverCount > 0 {
		text = fmt.Sprintf("Case %d itself is failed still, and so are those of the others that nobody has mended; nobody is told of them again.", n.Case.ID)
	}
	if p.Mends {
		text += fmt.Sprintf(" With the command line: flowdrive resume %d, or flowdrive cancel %d if it is not needed any more.", n.Case.ID, n.Case.ID)
	}
	return text
}

// open adds to the letter about something that is wrong what a command wrote, what the
// recipient can do, and when there will be more mails.
func (n *Notice) open(l *letter, p *Person) {
	t, c := n.Trouble, n.Case
	if t.Output != "" {
		l.Output = strings.Split(strings.TrimRight(t.Output, "\n"), "\n")
	}
	if t.Delay != nil {
		l.Closing = append(l.Closing, t.prospects(p))
	}
	if t.What == WhatFailed && p.Mends {
		l.link("Try it again", n.Links.Retry(c.ID, t.Task))
	}
	if help := n.help(p); help != "" {
		l.Closing = append(l.Closing, help)
	}
	if p.Mends && (t.What == WhatFailed || t.What == WhatUnstarted) {
		l.Closing = append(l.Closing, fmt.Sprintf("With the command line: flowdrive resume %d", c.ID))
	}
	if len(p.Tasks) > 0 {
		l.Closing = append(l.Closing, "You can also do one of these:")
		for _, task := range p.Tasks {
			l.Closing = append(l.Closing, n.Title(task)+": "+n.Links.Action(task.Case, task.Action))
		}
	}
	l.Closing = append(l.Closing, t.again())
}

// again says when people are told of it again.
func (t *Trouble) again() string {
	switch {
	case t.What == WhatHeld:
		return "It starts when an administrator of the server ends that. You are told of it once a day until then, and when it is over; of other cases that are held back by the same you are not told at once."
	case t.Once:
		return "You are told of it this once."
	case t.What == WhatHandler:
		return "You are told of it once a day as long as the case warns of it, and once if these steps run without a fault."
	}
	return "You are told of it once a day until it is over, and once when it is."
}

// prospects says how it goes on with a delivery that is still tried.
func (t *Trouble) prospects(p *Person) string {
	y := t.Delay
	text := fmt.Sprintf("%s. It is tried again at %s", attempts(y.Tries), p.When(y.Next))
	if y.Until.After(y.Next) {
		text += ", and further until " + p.When(y.Until)
	}
	return text + ". After that it has failed, and you are told."
}

func attempts(n int64) string {
	if n == 1 {
		return "One attempt has failed"
	}
	return fmt.Sprintf("%d attempts have failed", n)
}

// help says in a sentence who mends what is wrong, and how.
func (n *Notice) help(p *Person) string {
	t, c := n.Trouble, n.Case
	switch {
	case t.What == WhatFailed && p.Mends:
		text := fmt.Sprintf(`The page of the case has it tried again or gives it up. On the drive, save {"do": "retry"} to %s to have it tried again, or {"do": "abort"} to give it up`, n.Links.ActionFile(c.ID, t.Task))
		switch {
		case t.Skips && len(t.Outputs) > 0:
			text += fmt.Sprintf(`, or {"do": "skip", "output": %q} to have it count as done with that output. Its outputs are: %s`, t.Outputs[0], strings.Join(t.Outputs, ", "))
		case t.Skips:
			text += `, or {"do": "skip"} to have it count as done`
		}
		if t.Skips {
			text += fmt.Sprintf(". If it lacks an XATTR, give that to the case first, on its page or by saving it to %s", n.Links.CaseFile(c.ID))
		}
		return text + "."
	case t.What == WhatFailed:
		return "Those who administer the route can have it tried again or give it up" + named(t.Menders) + "."
	case t.What == WhatUnstarted && p.Mends:
		return fmt.Sprintf(`The page of the case has it started again or cancels it. On the drive, save {"state": "active"} to %s to have it started again, or {"state": "canceled"} to give it up.`, n.Links.CaseFile(c.ID))
	case t.What == WhatUnstarted:
		return "Those who administer the route can have it started again or cancel it" + named(t.Menders) + "."
	case t.What == WhatHandler && p.Mends:
		return "The step has done nothing, and the case has gone on without it. Nothing tries it again: do by hand what it was to do, and correct the route."
	case t.What == WhatHandler:
		return "The step has done nothing, and the case has gone on without it. Those who administer the route can correct the route" + named(t.Menders) + "."
	case t.What == WhatCondition && p.Mends:
		return fmt.Sprintf(`Until it can be evaluated it counts as false, and %q has to wait. Give the case what the expression looks for, on its page or by saving it to %s on the drive, or correct the route and store it with ?migrate.`, t.Task, n.Links.CaseFile(c.ID))
	case t.What == WhatCondition:
		return fmt.Sprintf("Until it can be evaluated it counts as false, and %q has to wait. Those who administer the route can correct it", t.Task) + named(t.Menders) + "."
	case t.What == WhatSuspended:
		return fmt.Sprintf(`Nobody is given its tasks, and none of its timers expires. Its starter and those who administer the route can resume it, on its page, by {"state": "active"} saved to %s, or with the command line: flowdrive resume %d`, n.Links.CaseFile(c.ID), c.ID)
	case t.What == WhatSlow && p.Mends:
		return fmt.Sprintf(`Its log says what it waits for. The page of the case ends it, and what it runs; on the drive, {"state": "canceled"} saved to %s does.`, n.Links.CaseFile(c.ID))
	case t.What == WhatSlow:
		return "Its log says what it waits for. Those who administer the route can end it" + named(t.Menders) + "."
	}
	return ""
}

func named(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

// overToo says what else is over, of what the recipient was told of.
func (p *Person) overToo() (lines []string) {
	for _, t := range p.Over {
		lines = append(lines, fmt.Sprintf("This also ends what had been wrong since %s: %s.", p.When(t.Since), strings.TrimSuffix(p.text(machine.OneLine(t.Text)), ".")))
	}
	return lines
}
