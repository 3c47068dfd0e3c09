package notice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/link"
)

// Digested is a mail that goes in a digest.
type Digested struct {
	Time time.Time // when it was written
	Mail *machine.Mail
	Case int64 // that it is about, 0 for none
}

// Digest returns one mail of several, in their order: what was told and when, then
// each of them. It has no addresses.
func Digest(mails []Digested, p *Person) *machine.Mail {
	count := fmt.Sprintf("%d notices", len(mails))
	if len(mails) == 1 {
		count = "1 notice"
	}
	return together(mails, p, count, count+" since your last digest:")
}

// StillWrong returns one mail of several that tell a person what is still wrong. It has
// no addresses.
func StillWrong(mails []Digested, p *Person) *machine.Mail {
	count := fmt.Sprintf("%d things are still wrong", len(mails))
	return together(mails, p, count, count+":")
}

// Wrong returns one mail of several that tell a person what went wrong in one event. It is of
// their thread, and has no addresses unless there is one of them.
func Wrong(mails []Digested, p *Person) *machine.Mail {
	if len(mails) == 1 {
		return mails[0].Mail
	}
	count := fmt.Sprintf("%d things are wrong", len(mails))
	mail := together(mails, p, count, count+":")
	mail.Subject = subjectLine(count + ": " + mails[0].Mail.Subject) // what came first may have led to the others
	mail.Thread = mails[0].Mail.Thread
	return mail
}

// Crowd returns one mail of several that tell a person what one event has done to the tasks
// of as many cases, of that kind. It has no addresses unless there is one of them.
func Crowd(kind Kind, mails []Digested, p *Person) *machine.Mail {
	if len(mails) == 1 {
		return mails[0].Mail
	}
	count := crowdCount(kind, len(mails))
	return together(mails, p, count, count+":")
}

// TooMany returns one mail of several that are more than a person gets by themselves in an
// hour. It has no addresses.
func TooMany(mails []Digested, p *Person, most int64) *machine.Mail {
	count := fmt.Sprintf("%d more notices", len(mails))
	if len(mails) == 1 {
		count = "1 more notice"
	}
	return together(mails, p, count, fmt.Sprintf("%s; you get at most %d mails in an hour, and what is more in one:", count, most))
}

// NotListed stands in such a mail for those that it does not have room for.
func NotListed(p *Person, links link.Base) *machine.Mail {
	l := &letter{
		Subject: "Still more, which are not listed",
		Opening: "More came in this hour than one mail can have. Your tasks are in your worklist, and what is wrong is in Workflow/Status/late.txt.",
	}
	l.link("Your tasks", links.To("/tasks"))
	return l.mail(p, "")
}

// Of many mails that go in one, only so many have more in it than their subject.
const mostWhole = 100

// together returns one mail of several. Its subject begins with what they are, and its
// text with the opening.
func together(mails []Digested, p *Person, what, opening string) *machine.Mail {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", opening)
	for _, line := range digestLines(mails, p) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if len(mails) > mostWhole {
		fmt.Fprintf(&b, "\nThe first %d of them:\n", mostWhole)
	}
	for _, d := range mails[:min(len(mails), mostWhole)] {
		fmt.Fprintf(&b, "\n--------------------------------------------------------------------\n%s, %s\n\n%s", d.Mail.Subject, p.When(d.Time), d.Mail.Text)
	}
	return &machine.Mail{Subject: subjectLine(what + ": " + mails[len(mails)-1].Mail.Subject), Text: b.String()}
}

// mostCasesInLine is how many cases a line of a digest names.
const mostCasesInLine = 20

// digestLines says what was told and when, in the order of the first of each: what was told of
// several cases in the same words is one line, with the last time and the cases.
func digestLines(mails []Digested, p *Person) (lines []string) {
	same := map[string][]Digested{}
	for _, d := range mails {
		same[d.Mail.Subject] = append(same[d.Mail.Subject], d)
	}
	for _, d := range mails {
		all := same[d.Mail.Subject]
		if all == nil {
			continue // its line is there
		}
		delete(same, d.Mail.Subject)
		var cases []int64
		for _, one := range all {
			if one.Case != 0 && !slices.Contains(cases, one.Case) {
				cases = append(cases, one.Case)
			}
		}
		if len(cases) < 2 {
			for _, one := range all {
				lines = append(lines, p.When(one.Time)+"  "+one.Mail.Subject)
			}
			continue
		}
		lines = append(lines, p.When(all[len(all)-1].Time)+"  "+all[0].Mail.Subject+", "+casesInLine(cases))
	}
	return lines
}

// casesInLine names cases, and how many they are: "3 cases: 4, 5, 6".
func casesInLine(cases []int64) string {
	names := make([]string, min(len(cases), mostCasesInLine))
	for i := range names {
		names[i] = fmt.Sprint(cases[i])
	}
	text := fmt.Sprintf("%d cases: %s", len(cases), strings.Join(names, ", "))
	if more := len(cases) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
