package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// maxOutbox bounds the deliveries of a case that are not over.
const maxOutbox = 256

// Outgoing is what a step has asked of the outside and is not over. Its key
// there is made of the case, Seq and Step
// (docs/contract/engine.md#the-machine-is-a-pure-function).
type Outgoing struct {
	Seq    int64      `json:"q"` // number of the log entry that says so
	Step   int64      `json:"n"` // of the step in its handler, from 1
	Verb   route.Verb `json:"v"`
	Source string     `json:"s"` // the action or timer that has the step
	Into   string     `json:"i,omitempty"`
	At     time.Time  `json:"at"` // when it was asked for

	Failed   bool   `json:"x,omitempty"` // for good: until somebody retries or aborts it
	Attempts int64  `json:"a,omitempty"` // that failed
	Fault    string `json:"e,omitempty"` // of the last one
}

// Name is what people call a delivery: on worklists, and below the case's
// actions.
func (o *Outgoing) Name() string { return fmt.Sprintf("%s.%d-%d", o.Source, o.Seq, o.Step) }

// action returns the action that has the step, or whose timer has; the name of
// a timer of the case where that has.
func (o *Outgoing) action() string {
	if action, _, ofAction := route.SplitTimer(o.Source); ofAction {
		return action
	}
	return o.Source
}

// Sending reports whether anything that the case has asked of the outside is
// on its way.
func (c *Case) Sending() bool {
	return slices.ContainsFunc(c.Outbox, func(o Outgoing) bool { return !o.Failed })
}

// Undelivered returns the delivery of that name that has failed for good, nil
// for none.
func (c *Case) Undelivered(name string) *Outgoing {
	for i := range c.Outbox {
		if o := &c.Outbox[i]; o.Failed && o.Name() == name {
			return o
		}
	}
	return nil
}

// Posting is what an event does to the outbox; one of Request, Again and Over
// is set.
type Posting struct {
	Seq, Step int64
	Request   *Request // to be sent
	Again     bool     // what has failed is due again, at once
	Over      bool     // it was delivered, or given up: it is to be forgotten
	Failed    bool     // it is not tried again until Again
}

// Request is what a step asks of the outside, with everything filled in; one
// of its pointers is set.
type Request struct {
	Mail *Mail     `json:"mail,omitempty"`
	HTTP *HTTPCall `json:"http,omitempty"`
	Exec *Command  `json:"exec,omitempty"`
	Call *Callback `json:"call,omitempty"`
}

// Mail is a mail to be sent to each of its addresses.
type Mail struct {
	To      []string `json:"to"` // addresses, without names
	Subject string   `json:"subject"`
	Text    string   `json:"text"`
	Thread  string   `json:"thread,omitempty"` // what the mail is about: mails with the same one belong together
	Named   []string `json:"named,omitempty"`  // those of To that the route names, who need not be users'
}

// HTTPCall is a request to a service.
type HTTPCall struct {
	Method    string            `json:"method"`
	URL       string            `json:"url"`
	Header    map[string]string `json:"header,omitempty"`
	MediaType string            `json:"type,omitempty"` // of Body
	Body      []byte            `json:"body,omitempty"`
	Secret    string            `json:"secret,omitempty"` // name of the secret that signs it, "" for none
}

// Command is a command that an administrator allowed by its name.
type Command struct {
	Name  string   `json:"name"`
	Args  []string `json:"args,omitempty"`
	Input []byte   `json:"input,omitempty"`
}

// Callback is a function that whoever embeds the engine registered by its
// name.
type Callback struct {
	Name  string `json:"name"`
	Case  []byte `json:"case,omitempty"`  // what it is told of the case, JSON
	Value []byte `json:"value,omitempty"` // JSON
}

// The shell's events about what the case has asked of the outside. Of what is
// over already, or never was, they do nothing: so an answer is used once,
// whatever has crashed.
type (
	// Delivered says that it was done, and what the answer is.
	Delivered struct {
		Seq, Step int64
		Attempts  int64
		MediaType string
		Content   []byte
	}

	// Undelivered says that it failed for good.
	Undelivered struct {
		Seq, Step int64
		Attempts  int64 // since it was asked for, or retried
		Reason    string
	}

	// Recorded says that a sandbox keeps what would have been sent, as a
	// message of the case (docs/contract/drive.md#8-sandbox-mode).
	Recorded struct {
		Seq, Step int64
		Content   []byte // JSON
	}
)

func (Delivered) event()   {}
func (Undelivered) event() {}
func (Recorded) event()    {}

// deliveries is what happens to the deliveries of a case.
type deliveries struct{ *caseDecision }

func (d *caseDecision) deliveries() deliveries { return deliveries{d} }

// LabelOutbox returns the label under which a sandbox records what would have
// been sent.
func LabelOutbox(seq, step int64) string { return fmt.Sprintf("Outbox-%d-%d", seq, step) }

// record takes in what became of a delivery.
func (d deliveries) record(event Event) error {
	var seq, step int64
	switch e := event.(type) {
	case Delivered:
		seq, step = e.Seq, e.Step
	case Undelivered:
		seq, step = e.Seq, e.Step
	case Recorded:
		seq, step = e.Seq, e.Step
	}
	at := slices.IndexFunc(d.c.Outbox, func(o Outgoing) bool { return o.Seq == seq && o.Step == step })
	if at < 0 {
		return d.bringToRest()
	}
	switch e := event.(type) {
	case Delivered:
		if len(e.Content) > MaxFact {
			d.keepFailed(at, e.Attempts, fmt.Sprintf("the answer is longer than %d bytes", MaxFact))
			break
		}
		d.writeAnswer(at, e)
	case Undelivered:
		d.keepFailed(at, e.Attempts, e.Reason)
	case Recorded:
		o := d.c.Outbox[at]
		d.end(at)
		d.messages = append(d.messages, NewMessage{Label: LabelOutbox(seq, step), MediaType: "application/json", Content: e.Content})
		d.addOutside(&o, LogEntry{Kind: LogMessage, Text: fmt.Sprintf("Recorded instead of sent: %s, as %s", o.Verb, LabelOutbox(seq, step))})
		d.noteWritten(LabelOutbox(seq, step), "")
	}
	return d.bringToRest()
}

// writeAnswer writes the answer as a message, where the step has asked for one
// and the case can still use it.
func (d deliveries) writeAnswer(at int, e Delivered) {
	o := d.c.Outbox[at]
	d.end(at)
	text := fmt.Sprintf("Delivered: %s", o.Verb)
	switch life := d.c.Life; {
	case o.Into == "":
	case life == Canceled || life == Closed || life == Failed:
		text += fmt.Sprintf("; the case is %s, and the answer for %s was not kept", life, o.Into)
	default:
		text += ", wrote " + o.Into
		d.messages = append(d.messages, NewMessage{Label: o.Into, MediaType: e.MediaType, Content: e.Content})
		delete(d.known, o.Into)
		d.noteWritten(o.Into, "")
	}
	d.addOutside(&o, LogEntry{Kind: LogMessage, Text: text})
}

// keepFailed keeps a delivery that failed for good until somebody attends to it.
func (d deliveries) keepFailed(at int, attempts int64, reason string) {
	if d.c.Outbox[at].Failed {
		return
	}
	o := &d.c.Outbox[at]
	o.Failed, o.Attempts, o.Fault = true, o.Attempts+attempts, clipLine(reason)
	d.changed = true
	d.outbox = append(d.outbox, Posting{Seq: o.Seq, Step: o.Step, Failed: true})
	text := fmt.Sprintf("Not delivered: %s: %s", o.Verb, o.Fault)
	d.addOutside(o, LogEntry{Kind: LogError, Text: text})
	if len(d.c.Warnings) < maxNotices {
		d.c.Warnings = append(slices.Clip(d.c.Warnings), Warning{Timer: o.Name(), Time: d.now, Text: text})
	}
}

// end ends a delivery, whatever became of it.
func (d deliveries) end(at int) {
	o := d.c.Outbox[at]
	d.dropWarnings(func(w Warning) bool { return w.Timer == o.Name() })
	d.c.Outbox = slices.Delete(d.c.Outbox, at, at+1)
	d.changed = true
	d.outbox = append(d.outbox, Posting{Seq: o.Seq, Step: o.Step, Over: true})
}

func (d deliveries) addOutside(o *Outgoing, entry LogEntry) {
	if action := o.action(); d.route.Action(action) != unknown {
		entry.Action = new(action)
	}
	d.add(entry)
}

// undelivered returns the deliveries that a person means: the one of that
// name, or those of the action, unless the action is escalated itself.
func (d deliveries) undelivered(name string) (places []int) {
	if i := d.route.Action(name); i != unknown {
		if place := d.place(i); place >= 0 && d.c.Enabled[place].State == Escalated {
			return nil
		}
	}
	for i := range d.c.Outbox {
		if o := &d.c.Outbox[i]; o.Failed && (o.Name() == name || o.action() == name) {
			places = append(places, i)
		}
	}
	return places
}

// attend lets an administrator of the route send again what was not
// delivered, or give it up; the places are those of the deliveries, ascending.
func (d deliveries) attend(places []int, actor Actor, said string, again bool) error {
	switch {
	case d.c.Life == Suspended:
		return d.refusals().notOpen()
	case !actor.RouteAdmin:
		return errs.New(errs.NotAllowed, "Only an administrator of the route may retry or abort what was not delivered.")
	}
	for _, at := range slices.Backward(places) {
		o := d.c.Outbox[at]
		d.asked = o.action()
		entry := byPerson(actor, said)
		entry.Kind = LogTask
		if !again {
			d.end(at)
			entry.Text = fmt.Sprintf("Gave up: %s", o.Verb)
			d.addOutside(&o, entry)
			continue
		}
		d.c.Outbox[at].Failed = false
		d.dropWarnings(func(w Warning) bool { return w.Timer == o.Name() })
		d.changed = true
		d.outbox = append(d.outbox, Posting{Seq: o.Seq, Step: o.Step, Again: true})
		entry.Text = fmt.Sprintf("Sent again: %s", o.Verb)
		d.addOutside(&o, entry)
	}
	return d.bringToRest()
}

// clipLine makes a line of a text from outside, of bounded length.
func clipLine(text string) string {
	const most = 500
	text = OneLine(text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// OneLine makes one line of a text: what is no letter, sign or blank becomes
// a blank, so that nothing can be a line of its own.
func OneLine(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD")))
}
