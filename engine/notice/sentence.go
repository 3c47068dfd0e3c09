package notice

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"flowdrive/engine/machine"
)

// Sentence says in a line what the recipient is told, as the subject of a mail. A
// nil recipient stands for a service.
func (n *Notice) Sentence(p *Person) string {
	switch {
	case n.Way != nil:
		return n.waySentence()
	case n.Away != nil:
		return n.awaySentence(p)
	case n.Hold != nil:
		return n.holdSentence()
	case n.Deed != nil:
		return n.deedSentence()
	case n.Trouble != nil:
		if p == nil {
			p = &Person{Zone: n.Zone}
		}
		return p.text(n.troubleSentence())
	case p != nil && len(p.Tasks) > 0:
		return n.taskSentence(p)
	case p == nil && len(n.People) > 0 && len(n.People[0].Tasks) > 0:
		return n.taskSentence(&n.People[0])
	case n.Child != nil:
		return n.childSentence()
	}
	return titled(n.Word, n.Case.Title)
}

// taskSentence names the tasks and the case: "To do: Approve, Refuse (A lamp)".
func (n *Notice) taskSentence(p *Person) string {
	titles := make([]string, len(p.Tasks))
	for i, task := range p.Tasks {
		titles[i] = n.Title(task)
	}
	word := "To do: "
	if p.Why == machine.ReasonReminder {
		word = "Reminder: "
	}
	return word + strings.Join(titles, ", ") + " (" + p.At.Title + ")"
}

// childSentence tells what happened in a child as the child's, and how many of its
// siblings have ended: "Ann voted Approve: TIP 42 (2 of 3)".
func (n *Notice) childSentence() string {
	c, title, word := n.Child, n.Case.Title, n.Word
	by := ""
	if len(n.Acts) > 0 && n.Acts[0].Actor != nil && *n.Acts[0].Actor != machine.ActorTimer {
		by = upperFirst(n.name(*n.Acts[0].Actor))
	}
	switch {
	case by != "" && c.Verb != "" && c.Action != "":
		word, title = by+" "+lowerFirst(c.Verb)+" "+c.Action, c.ParentTitle
	case by != "":
		word = by + " " + lowerFirst(word)
	}
	if c.Total == 0 {
		return titled(word, title)
	}
	return titled(word, title) + fmt.Sprintf(" (%d of %d)", c.Done, c.Total)
}

// titled puts a title behind what is said of it.
func titled(word, title string) string {
	switch {
	case word == "":
		return title
	case strings.Contains(word, ": "):
		return word + " (" + title + ")"
	}
	return word + ": " + title
}

// name returns what people call a user.
func (n *Notice) name(user string) string {
	if n.Name == nil {
		return user
	}
	return n.Name(user)
}

func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

func lowerFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + text[size:]
}
