package outbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// The states of a delivery, as its journal has them. What has ended is in one of the
// states machine.EndDelivered and its like.
const (
	StateWaiting = "waiting"
	StateRunning = "running"
	StateFailed  = "failed" // it can be tried again by people
)

// MostAttemptsShown is how many attempts a journal has: the last ones.
const MostAttemptsShown = 100

// Journal is what became of a delivery of a case: what was to be sent, when, with
// what result, and what comes next. It outlives the delivery
// (docs/contract/drive.md#outbox-of-a-case).
type Journal struct {
	Name     string    `json:"name"`
	Case     int64     `json:"case"`
	Action   string    `json:"action"` // or the timer of the case or of a state
	Step     string    `json:"step"`   // its verb
	What     string    `json:"what"`
	Into     *string   `json:"into"`
	State    string    `json:"state"`
	Result   *string   `json:"result"` // of the last attempt, in words
	Created  string    `json:"created"`
	Next     *string   `json:"next"`  // when it is tried next by itself
	Count    int64     `json:"count"` // of all attempts
	Attempts []Attempt `json:"attempts"`
}

// Attempt is one try of a delivery.
type Attempt struct {
	Number  int64                `json:"number"`
	Started string               `json:"started"`
	Ended   *string              `json:"ended"`
	Result  *string              `json:"result"` // "delivered", or what went wrong
	Kind    *machine.FailureKind `json:"kind"`
	Status  *int64               `json:"status"` // exit status, signal or HTTP status
	Stdout  *string              `json:"stdout"` // label of the message that has what a command wrote
	Stderr  *string              `json:"stderr"`
	Body    *string              `json:"body,omitempty"` // label of the message that has what a service answered; of the last failed attempt
}

// NewJournal begins the journal of a delivery that a step has asked for.
func NewJournal(caseID int64, o *machine.Outgoing, what string) *Journal {
	j := &Journal{
		Name: o.Name(), Case: caseID, Action: o.Source, Step: string(o.Verb), What: what, State: StateWaiting,
		Created: instant(o.At), Attempts: []Attempt{},
	}
	if o.Into != "" {
		j.Into = new(o.Into)
	}
	j.Next = new(j.Created)
	return j
}

// ReadJournal reads what Form has written.
func ReadJournal(form []byte) (*Journal, error) {
	j := &Journal{}
	if err := json.Unmarshal(form, j); err != nil {
		return nil, errs.Wrap("read the journal of a delivery", err)
	}
	return j, nil
}

// Form returns the journal as it is stored and shown.
func (j *Journal) Form() []byte { return document.Indent(document.Line(j)) }

// Again says that somebody has retried the delivery.
func (j *Journal) Again(now time.Time) { j.State, j.Next = StateWaiting, new(instant(now)) }

// Open reports whether the delivery has not ended: it waits, is under way, or has failed and
// can be tried again.
func (j *Journal) Open() bool {
	return j.State == StateWaiting || j.State == StateRunning || j.State == StateFailed
}

// Failed says that the delivery is not tried again by itself.
func (j *Journal) Failed() { j.State, j.Next = StateFailed, nil }

// End says how the delivery has ended. A failure is its result until then. An attempt
// that is under way ends with it.
func (j *Journal) End(how string, now time.Time) {
	j.State, j.Next = how, nil
	if how == machine.EndCanceled {
		j.Result = new(how)
		if last := len(j.Attempts) - 1; last >= 0 && j.Attempts[last].Ended == nil {
			j.Attempts[last].Ended, j.Attempts[last].Result = new(instant(now)), new(how)
		}
	}
	if how == machine.EndDelivered || how == machine.EndRecorded {
		j.Result = new(how)
	}
}

// Begin says that an attempt begins.
func (j *Journal) Begin(now time.Time) {
	j.Count++
	j.State, j.Next = StateRunning, nil
	j.Attempts = append(j.Attempts, Attempt{Number: j.Count, Started: instant(now)})
	j.Attempts = j.Attempts[max(0, len(j.Attempts)-MostAttemptsShown):]
}

// Ended says how the last attempt has ended, nil if well, and when there is another
// one; zero: that is not known yet.
func (j *Journal) Ended(now time.Time, failure error, again time.Time) {
	if len(j.Attempts) == 0 {
		return
	}
	a := &j.Attempts[len(j.Attempts)-1]
	if a.Result = new(machine.EndDelivered); a.Ended == nil { // it is known already of one that the stop of the server has ended
		a.Ended = new(instant(now))
	}
	if failure != nil {
		how := HowFailed(failure)
		a.Result, a.Kind = new(machine.OneLine(failure.Error())), new(how.Kind)
		switch how.Kind {
		case machine.FailureExit, machine.FailureSignal, machine.FailureStatus:
			a.Status = new(how.Status)
		case machine.FailureTimeout, machine.FailureNetwork, machine.FailureFault:
		}
	}
	j.Result = a.Result
	if !again.IsZero() {
		j.State, j.Next = StateWaiting, new(instant(again))
	}
}

// isCut reports whether the stop of the server has ended the last attempt.
func (j *Journal) isCut() bool {
	last := len(j.Attempts) - 1
	return last >= 0 && j.Attempts[last].Result != nil && *j.Attempts[last].Result == errCut.Error()
}

// The beginnings of the labels of messages that hold what commands wrote and services answered.
const (
	streamOut  = "Stdout"
	streamErr  = "Stderr"
	answerBody = "Body" // what a service has answered that failed
)

var labelOfOutput = regexp.MustCompile(`^(?:(` + streamOut + `|` + streamErr + `)(-[0-9]+){3}|` + answerBody + `(-[0-9]+){2})$`)

// IsOutput reports whether a message with that label holds what a command wrote, or what a
// service has answered that failed.
func IsOutput(label string) bool { return labelOfOutput.MatchString(label) }

// Wrote says that what the command of the last attempt writes is a message, and
// returns the labels of both.
func (j *Journal) Wrote(seq, step int64, o Output) (stdout, stderr string) {
	if len(j.Attempts) == 0 {
		return "", ""
	}
	a := &j.Attempts[len(j.Attempts)-1]
	name := func(stream string) string { return fmt.Sprintf("%s-%d-%d-%d", stream, seq, step, a.Number) }
	stdout, stderr = name(streamOut), name(streamErr)
	if len(o.Stdout) > 0 {
		a.Stdout = new(stdout)
	}
	if len(o.Stderr) > 0 {
		a.Stderr = new(stderr)
	}
	return stdout, stderr
}

// answered says that what a service has answered to the last attempt is the message with
// that label, and that no earlier attempt has it any more; "" for nothing.
func (j *Journal) answered(label string) {
	if label == "" || len(j.Attempts) == 0 {
		return
	}
	for i := range j.Attempts {
		j.Attempts[i].Body = nil
	}
	j.Attempts[len(j.Attempts)-1].Body = new(label)
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
