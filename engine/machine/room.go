package machine

import (
	"errors"

	"flowdrive/internal/errs"
)

// FormPage is the unit in which the forms of cases count against a quota: what is smaller
// counts nothing.
const FormPage = 4 << 10

// shortLine is the longest text of a log entry for which no room is asked: each line that the
// engine writes by itself is about as long.
const shortLine = 256

// ErrRoom is what the errors wrap that say that the starter of a case may not store what a
// step makes.
var ErrRoom = errors.New("the quota of the starter is used up")

// Size is how long a message is.
type Size struct {
	Bytes int64
	Own   int64 // of these, bytes that count for the starter of the case
}

// takeRoom takes so many bytes of what the starter of the tree may store. A fault says that
// there is not so much room.
func (t *tree) takeRoom(starter, what string, n int64) error {
	fits, err := t.fits(n)
	if err != nil {
		return err
	}
	if !fits {
		t.full = true
		return roomFault(starter, what)
	}
	t.stores += max(0, n)
	return nil
}

// fits reports whether the starter of the tree may store so many bytes more.
func (t *tree) fits(n int64) (bool, error) {
	switch {
	case n <= 0 || t.foresees:
		return true, nil
	case t.facts.Room == nil:
		t.need(Need{Room: true})
		return false, errAbsent
	}
	return t.stores+n <= *t.facts.Room, nil
}

func roomFault(starter, what string) error {
	e := errs.New(errs.RouteFault, "There is no room for %s, unless files, versions or cases of %s are deleted or an administrator raises the quota", what, starter)
	e.Err = ErrRoom
	return e
}

// storing takes the room of what a step adds to its case.
type storing struct{ *caseDecision }

// message takes the room of a message that the case is to get. What it replaces makes
// room.
func (d storing) message(m NewMessage) error {
	n := int64(len(m.Content))
	if fits, err := d.fits(n); err != nil {
		return err
	} else if !fits {
		if earlier, again := written(d.messages, m.Label); again {
			n -= int64(len(earlier))
		} else if d.from != nil {
			old, err := d.sizeOf(InputRef{d.c.ID, m.Label})
			if err != nil {
				return err
			}
			n -= old.Own
		}
	}
	return d.takeRoom(d.c.Starter, "the message "+m.Label, n)
}

// sizeOf returns how long a stored message is.
func (t *tree) sizeOf(m InputRef) (Size, error) {
	size, known := t.facts.Sizes[m]
	if !known {
		t.need(Need{Size: m})
		return size, errAbsent
	}
	return size, nil
}

// input takes the room of the copy that a new case gets of a message of this one.
func (d storing) input(label string) error {
	if content, now := written(d.messages, label); now {
		return d.takeRoom(d.c.Starter, "the input of a case", int64(len(content)))
	}
	if d.foresees {
		return nil
	}
	size, err := d.sizeOf(InputRef{d.c.ID, label})
	if err != nil {
		return err
	}
	return d.takeRoom(d.c.Starter, "the input of a case", size.Bytes)
}

// weight returns how many bytes of its form and its marking a case owes to its steps, in whole
// pages.
func (c *Case) weight() int64 {
	n := len(c.Title)
	for i := range c.Xattrs {
		n += len(c.Xattrs[i].Key) + len(c.Xattrs[i].Value.Text)
	}
	for i := range c.Warnings {
		n += len(c.Warnings[i].Text)
	}
	return int64(2*n) / FormPage * FormPage // both of them have it
}

// form takes the room of what a step adds to a case that weighed so much before it.
func (d storing) form(before int64) error {
	return d.takeRoom(d.c.Starter, "what the case would have more", d.c.weight()-before)
}

// line takes the room of a line of the log.
func (d storing) line(text string) error {
	if len(text) <= shortLine {
		return nil
	}
	return d.takeRoom(d.c.Starter, "a line of the log", int64(len(text)))
}

// noRoomForAnswer says why the answer of a delivery cannot be kept; "" if it can.
func (d deliveries) noRoomForAnswer(m NewMessage) (reason string, err error) {
	err = storing(d).message(m)
	if errors.Is(err, ErrRoom) {
		return "its answer was not kept. " + err.Error(), nil
	}
	return "", err
}
