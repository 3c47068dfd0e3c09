package machine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"flowdrive/internal/errs"
	"flowdrive/route"
)

// maxOutbox is how many deliveries of a case may be under way.
const maxOutbox = 256

// Outgoing is a delivery that a step has asked for and that has not ended. Its key in
// the outbox is made of the case, Seq and Step
// (docs/contract/engine.md#the-machine-is-a-pure-function).
type Outgoing struct {
	Seq    int64      `json:"q"` // number of the log entry about it
	Step   int64      `json:"n"` // number of the step in its handler, from 1
	Verb   route.Verb `json:"v"`
	Source string     `json:"s"` // the action or timer that has the step
	Into   string     `json:"i,omitempty"`
	At     time.Time  `json:"at"` // when it was asked for

	Failed   bool        `json:"x,omitempty"` // for good: it is not tried again until somebody retries it
	Attempts int64       `json:"a,omitempty"` // how many failed
	Fault    string      `json:"e,omitempty"` // of the last attempt, once it has failed for good; stays while it is retried
	Kind     FailureKind `json:"k,omitempty"` // goes with Fault
	Code     int64       `json:"c,omitempty"` // exit status, signal or HTTP status; goes with Kind

	Unhandled bool   `json:"u,omitempty"` // onError is still to be run for its failure
	OfError   bool   `json:"h,omitempty"` // onError has asked for it, so none is run for its failure
	From      string `json:"f,omitempty"` // the status that onError has led the case away from, into a failed one

	Delay *Delay `json:"d,omitempty"` // nil: no attempt has failed since it was asked for, or last retried
}

// Name is the name of a delivery on worklists and below the case's actions.
func (o *Outgoing) Name() string { return fmt.Sprintf("%s.%d-%d", o.Source, o.Seq, o.Step) }

// action returns the action that has the step, or whose timer has it. If a timer of
// the case has it, the result is the name of that timer.
func (o *Outgoing) action() string {
	if action, _, ofAction := route.SplitTimer(o.Source); ofAction {
		return action
	}
	return o.Source
}

// failure returns how the delivery has failed.
func (o *Outgoing) failure() Failure {
	return Failure{Name: o.Name(), Action: o.action(), Step: string(o.Verb), Kind: o.Kind, Status: o.Code, Text: o.Fault}
}

// Sending reports whether the case has deliveries that have not failed for good.
func (c *Case) Sending() bool {
	return slices.ContainsFunc(c.Outbox, func(o Outgoing) bool { return !o.Failed })
}

// Posting is what an event does to a row of the outbox. At most one of Request,
// Again, Over and Failed is set.
type Posting struct {
	Seq, Step int64
	Request   *Request // it is to be sent
	Again     bool     // it has failed, and is due again at once
	Over      bool     // it has ended, and is to be removed
	End       string   // with Over: how, one of the ends
	What      string   // with Request: what is sent, in a few words
	Failed    bool     // it has failed for good: it is not tried until Again
}

// Request is what is to be sent, with everything filled in. Exactly one of its
// pointers to what is sent is set.
type Request struct {
	Mail *Mail     `json:"mail,omitempty"`
	HTTP *HTTPCall `json:"http,omitempty"`
	Exec *Command  `json:"exec,omitempty"`
	Call *Callback `json:"call,omitempty"`
	News *Bulletin `json:"news,omitempty"`

	Retry *Repeats `json:"retry,omitempty"` // nil: as its kind has it by itself

	// Heartbeat is the UUID of the schedule entry whose heartbeat an HTTP call is, ""
	// for others.
	Heartbeat string `json:"heartbeat,omitempty"`
}

// Repeats says when a request that failed is sent again
// (docs/contract/routes.md#trying-again).
type Repeats struct {
	Times   int64         `json:"times"`        // further attempts after the first
	Every   time.Duration `json:"every"`        // the first pause
	Backoff float64       `json:"backoff"`      // what each pause is of the one before, from 1
	On      []string      `json:"on,omitempty"` // kinds of failures and statuses; nil: as the kind of request has it by itself
}

// Mail is a mail to be sent to each of its addresses.
type Mail struct {
	To      []string `json:"to"` // addresses, without names
	Subject string   `json:"subject"`
	Text    string   `json:"text"`
	HTML    string   `json:"html,omitempty"`   // the same as Text, for programs that show it; "" for none
	Thread  string   `json:"thread,omitempty"` // mails with the same thread belong together
	Named   []string `json:"named,omitempty"`  // those of To that the route names, which need not be of users

	// Addresses among To that only a team has brought in: what becomes of the mail must not
	// name them to those who read that.
	Members []string `json:"members,omitempty"`

	// Names of secrets, which whoever sends the mail puts in: further addresses, and
	// the text in place of Text.
	ToSecrets  []string `json:"toSecrets,omitempty"`
	TextSecret string   `json:"textSecret,omitempty"`
}

// HTTPCall is a request to a service.
type HTTPCall struct {
	Method    string            `json:"method"`
	URL       string            `json:"url"`
	Header    map[string]string `json:"header,omitempty"`
	MediaType string            `json:"type,omitempty"` // of Body
	Body      []byte            `json:"body,omitempty"`
	Secret    string            `json:"secret,omitempty"` // name of the secret that it is signed with, "" for the default one
	Unsigned  bool              `json:"unsigned,omitempty"`

	// Names of secrets, which whoever sends the request puts in: the address in
	// place of URL, and further headers.
	URLSecret     string            `json:"urlSecret,omitempty"`
	HeaderSecrets map[string]string `json:"headerSecrets,omitempty"`
}

// UsesSecrets reports whether what is asked for names secrets.
func (r *Request) UsesSecrets() bool {
	switch {
	case r.Mail != nil:
		return r.Mail.TextSecret != "" || len(r.Mail.ToSecrets) > 0
	case r.HTTP != nil:
		return r.HTTP.Secret != "" || r.HTTP.URLSecret != "" || len(r.HTTP.HeaderSecrets) > 0
	}
	return false
}

// Command is a run of a command that an administrator has allowed under its name.
type Command struct {
	Name     string   `json:"name"`
	Args     []string `json:"args,omitempty"`
	Input    []byte   `json:"input,omitempty"`
	Discards bool     `json:"discards,omitempty"` // its output is not an answer, and may have any length
}

// Callback is a call of a function that the embedding program has registered under
// its name.
type Callback struct {
	Name  string `json:"name"`
	Case  []byte `json:"case,omitempty"`  // what it is told of the case, JSON
	Value []byte `json:"value,omitempty"` // JSON
}

// Bulletin is what a destination of notices is told. Its address and the form in
// which it is told are settings, and are looked up when it is told.
type Bulletin struct {
	Destination string          `json:"destination"` // its ID
	Body        json.RawMessage `json:"body"`        // a notice.Payload
	About       string          `json:"-"`           // what it is about: of the same thing the destination is told in order
}

// Events about the deliveries of a case. If the delivery has ended already they do
// nothing, so that an answer is used once even if it is reported twice.
type (
	// Delivered says that a delivery succeeded, with the answer.
	Delivered struct {
		Seq, Step int64
		Attempts  int64
		MediaType string
		Content   []byte
	}

	// Attempted says that an attempt of a delivery has failed and there will be
	// another one, or that the first one waits.
	Attempted struct {
		Seq, Step int64
		Attempt   int64 // 1, 2, … since it was asked for, or last retried; 0: none was made
		Reason    string
		Again     time.Time
		Until     time.Time // the last attempt, if all of them fail
	}

	// Undelivered says that a delivery has failed for good.
	Undelivered struct {
		Seq, Step int64
		Attempts  int64 // since it was asked for, or last retried
		Reason    string
		Kind      FailureKind // "": a fault
		Status    int64       // as in Failure
		Output    string      // as in Failure
	}

	// Recorded says that a sandbox does not send something, and keeps it as a
	// message of the case (docs/contract/drive.md#8-sandbox-mode).
	Recorded struct {
		Seq, Step int64
		Content   []byte // JSON
	}
)

func (Delivered) event()   {}
func (Attempted) event()   {}
func (Undelivered) event() {}
func (Recorded) event()    {}

// deliveries is what happens to the deliveries of a case.
type deliveries struct{ *caseDecision }

func (d *caseDecision) deliveries() deliveries { return deliveries{d} }

// LabelOutbox returns the label of the message in which a sandbox records a
// delivery.
func LabelOutbox(seq, step int64) string { return fmt.Sprintf("Outbox-%d-%d", seq, step) }

// record handles the end of a delivery.
func (d deliveries) record(event Event) error {
	var seq, step int64
	switch e := event.(type) {
	case Delivered:
		seq, step = e.Seq, e.Step
	case Attempted:
		seq, step = e.Seq, e.Step
	case Undelivered:
		seq, step = e.Seq, e.Step
	case Recorded:
		seq, step = e.Seq, e.Step
	}
	at := d.c.placeOfDelivery(seq, step)
	if at < 0 {
		return d.bringToRest()
	}
	visit, performed := d.c.Visit, d.performed
	switch e := event.(type) {
	case Delivered:
		if len(e.Content) > MaxFact {
			d.keepFailed(at, Undelivered{Attempts: e.Attempts, Reason: fmt.Sprintf("the answer is longer than %s", maxFactWords)})
			break
		}
		if err := d.writeAnswer(at, e); err != nil {
			return err
		}
	case Attempted:
		d.delay(at, e)
	case Undelivered:
		d.keepFailed(at, e)
	case Recorded:
		if err := d.writeRecord(at, NewMessage{Label: LabelOutbox(seq, step), MediaType: "application/json", Content: e.Content}); err != nil {
			return err
		}
	}
	handled := at < len(d.c.Outbox) && d.c.Outbox[at].Unhandled
	if err := d.bringToRest(); err != nil {
		return err
	}
	// What the steps of onError led to has taken care of it.
	if at = d.c.placeOfDelivery(seq, step); handled && at >= 0 && d.c.Outbox[at].From == "" && (d.c.Visit != visit || d.performed != performed) {
		d.end(at, EndFailed)
	}
	return nil
}

// writeRecord ends a delivery that a sandbox has recorded instead.
func (d deliveries) writeRecord(at int, m NewMessage) error {
	if noRoom, err := d.noRoomForAnswer(m); err != nil {
		return err
	} else if noRoom != "" {
		d.keepFailed(at, Undelivered{Reason: noRoom})
		return nil
	}
	o := d.c.Outbox[at]
	d.end(at, EndRecorded)
	d.messages = append(d.messages, m)
	d.addOutside(&o, LogEntry{Kind: LogMessage, Text: fmt.Sprintf("Recorded instead of sent: %s, as %s", o.Verb, m.Label)})
	d.noteWritten(m.Label, "")
	return nil
}

// writeAnswer ends a delivery that succeeded. It writes the answer as a message if
// the step asks for that and the case has not ended. If there is no room for the answer, the
// delivery has failed.
func (d deliveries) writeAnswer(at int, e Delivered) error {
	o := d.c.Outbox[at]
	answer := NewMessage{Label: o.Into, MediaType: e.MediaType, Content: e.Content}
	kept := o.Into != "" && d.c.Life != Canceled && d.c.Life != Closed && d.c.Life != Failed
	if kept {
		if noRoom, err := d.noRoomForAnswer(answer); err != nil {
			return err
		} else if noRoom != "" {
			d.keepFailed(at, Undelivered{Attempts: e.Attempts, Reason: noRoom})
			return nil
		}
	}
	d.end(at, EndDelivered)
	text := fmt.Sprintf("Delivered: %s", o.Verb)
	switch {
	case kept:
		text += ", wrote " + o.Into
		d.messages = append(d.messages, answer)
		delete(d.known, o.Into)
		d.noteWritten(o.Into, "")
	case o.Into != "":
		text += fmt.Sprintf("; the case is %s, and the answer for %s was not kept", d.c.Life, o.Into)
	}
	d.addOutside(&o, LogEntry{Kind: LogMessage, Text: text})
	return nil
}

// keepFailed keeps a delivery that has failed for good until somebody retries or
// aborts it.
func (d deliveries) keepFailed(at int, e Undelivered) {
	if d.c.Outbox[at].Failed {
		return
	}
	o := &d.c.Outbox[at]
	d.dropWarnings(func(w Warning) bool { return w.Timer == o.Name() })
	o.Delay = nil
	o.Failed, o.Attempts, o.Fault = true, o.Attempts+e.Attempts, cmp.Or(clipLine(e.Reason), "it failed")
	o.Kind, o.Code = cmp.Or(e.Kind, FailureFault), e.Status
	d.changed = true
	o.Unhandled = !o.OfError && d.handler(o.action()) != nil
	d.tail = outputTail{o.Seq, o.Step, e.Output}
	d.outbox = append(d.outbox, Posting{Seq: o.Seq, Step: o.Step, Failed: true})
	text := fmt.Sprintf("Not delivered: %s: %s", o.Verb, o.Fault)
	d.addOutside(o, LogEntry{Kind: LogError, Text: text})
	if len(d.c.Warnings) < maxNotices {
		d.c.Warnings = append(slices.Clip(d.c.Warnings), Warning{Timer: o.Name(), Time: d.now, Text: text})
	}
	f := o.failure()
	f.Output = e.Output
	d.failures().failed(f)
}

// How a delivery ends.
const (
	EndDelivered = "delivered"
	EndRecorded  = "recorded"
	EndGivenUp   = "given up"
	EndFailed    = "failed"
	EndCanceled  = "canceled"
)

// stopCommands ends the commands of the case that are under way or wait for another
// attempt, of an action or, with "", all. What has been canceled cannot fail any more.
func (d deliveries) stopCommands(action string) {
	for _, at := range slices.Backward(d.commands(action)) {
		o := d.c.Outbox[at]
		d.end(at, EndCanceled)
		d.addOutside(&o, LogEntry{Kind: LogMessage, Text: fmt.Sprintf("Stopped: %s of %s", o.Verb, o.Source)})
	}
}

// dropFailed gives up what has failed for good, because the case is canceled: nobody
// waits for it any more.
func (d deliveries) dropFailed() {
	for at := len(d.c.Outbox) - 1; at >= 0; at-- {
		o := d.c.Outbox[at]
		if !o.Failed {
			continue
		}
		d.end(at, EndCanceled)
		d.addOutside(&o, LogEntry{Kind: LogMessage, Text: fmt.Sprintf("Given up with the case: %s of %s", o.Verb, o.Source)})
	}
}

// commands returns the places of the commands that have not ended: of an action, or of
// one delivery by its name; all with "".
func (d deliveries) commands(name string) (places []int) {
	for i := range d.c.Outbox {
		if o := &d.c.Outbox[i]; o.Verb == route.StepExec && !o.Failed && (name == "" || o.Name() == name || o.action() == name) {
			places = append(places, i)
		}
	}
	return places
}

// end removes a delivery and its warnings. how is one of the ends.
func (d deliveries) end(at int, how string) {
	o := d.c.Outbox[at]
	d.dropWarnings(func(w Warning) bool { return w.Timer == o.Name() })
	d.c.Outbox = slices.Delete(d.c.Outbox, at, at+1)
	d.changed = true
	d.outbox = append(d.outbox, Posting{Seq: o.Seq, Step: o.Step, Over: true, End: how})
}

func (d deliveries) addOutside(o *Outgoing, entry LogEntry) {
	if action := o.action(); d.route.Action(action) != unknown {
		entry.Action = new(action)
	}
	d.add(entry)
}

// undelivered returns the places of the failed deliveries that a person means: of
// the one with that name, or of all of the action, unless the action itself is
// escalated.
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

// attend has an administrator of the route retry failed deliveries, or give them up.
// The places are in ascending order.
func (d deliveries) attend(places []int, actor Actor, said string, again bool) error {
	switch {
	case d.c.Life == Suspended:
		return d.refusals().notOpen()
	case !actor.RouteAdmin:
		return errs.New(errs.NotAllowed, "Only an administrator of the route may retry or abort what was not delivered.")
	}
	back := ""
	for _, at := range places {
		if o := &d.c.Outbox[at]; again && o.From != "" {
			back, o.From = o.From, ""
		}
	}
	for _, at := range slices.Backward(places) {
		o := d.c.Outbox[at]
		d.asked = o.action()
		entry := byPerson(actor, said)
		if !again {
			d.failures().forgetOnError(o.action())
			entry.Kind = LogTask
			how := "Gave up"
			if o.Failed {
				d.end(at, EndGivenUp)
			} else {
				how = "Stopped"
				d.end(at, EndCanceled)
			}
			d.gaveUp = append(d.gaveUp, o.Name())
			entry.Text = fmt.Sprintf("%s: %s", how, o.Verb)
			d.addOutside(&o, entry)
			continue
		}
		d.sendAgain(at, entry, fmt.Sprintf("Sent again: %s", o.Verb))
	}
	if !again {
		d.failures().giveUp(actor)
	}
	if back != "" {
		d.comeBack(back, byPerson(actor, ""))
	}
	return d.bringToRest()
}

// sendAgain has a failed delivery sent again as it is.
func (d deliveries) sendAgain(at int, entry LogEntry, text string) {
	o := &d.c.Outbox[at]
	d.failures().forgetOnError(o.action())
	o.Failed, o.Unhandled = false, false
	name := o.Name()
	d.dropWarnings(func(w Warning) bool { return w.Timer == name })
	d.changed = true
	d.outbox = append(d.outbox, Posting{Seq: o.Seq, Step: o.Step, Again: true})
	entry.Kind, entry.Text = LogTask, text
	d.addOutside(o, entry)
}

// clipLine makes one line of bounded length of a text from outside.
func clipLine(text string) string {
	const most = 500
	text = OneLine(text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// OneLine makes one line of a text: control characters and line separators become
// blanks, and invalid UTF-8 becomes U+FFFD.
func OneLine(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD")))
}
