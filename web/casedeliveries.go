package web

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/engine/outbox"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

// deliveriesView is what the server does outside for a case.
type deliveriesView struct {
	Open []deliveryRow // what is under way, waits, or has failed
	Over []deliveryRow // the newest of the others
	All  string        // address of the folder that has all of them, "" if these are all
	Poll bool          // something changes of which there are no events
}

// deliveryRow is a mail, request, command or callback.
type deliveryRow struct {
	Href   string // its file on the drive
	Icon   string
	What   string
	Of     string // the action or timer that has asked for it
	State  mark
	Tried  string // how often, "" for never
	Last   string // what became of the last attempt, "" if the state says it
	When   template.HTML
	Next   template.HTML // when it is tried next
	Output []outputView
}

// outputView is the end of what a command has written.
type outputView struct{ Name, Text, Href string }

// Of what commands write a page shows the end, of the first deliveries that have any.
const (
	shownOutputs     = 3
	shownOutputBytes = 2 << 10
	shownOutputLines = 12
)

// soonTried is how far ahead an attempt is that a page waits for.
const soonTried = time.Minute

// deliveriesOf adds what is done outside for the case, and what became of it.
func (x caseDrawing) deliveriesOf(v *caseView, d *engine.CaseDetail) error {
	if len(d.Deliveries) == 0 {
		return nil
	}
	folder := fmt.Sprintf("/dav/Workflow/Cases/%d/", v.ID)
	v.Deliveries = &deliveriesView{}
	if d.MoreDeliveries {
		v.Deliveries.All = folder + "Outbox/"
	}
	outputs := 0
	for _, j := range d.Deliveries {
		row, soon, err := x.deliveryRow(j)
		if err != nil {
			return err
		}
		row.Of, row.Href = actionTitle(d.Route, j.Action), folder+"Outbox/"+url.PathEscape(j.Name)+".json"
		if !j.Open() {
			v.Deliveries.Over = append(v.Deliveries.Over, row)
			continue
		}
		if outputs < shownOutputs {
			if row.Output, err = x.outputOf(folder+"Labels/", j); err != nil {
				return err
			}
			outputs += min(len(row.Output), 1)
		}
		v.Deliveries.Poll = v.Deliveries.Poll || soon
		v.Deliveries.Open = append(v.Deliveries.Open, row)
	}
	return nil
}

// deliveryRow returns what the page says of a delivery. soon says that it changes within a
// moment.
func (x caseDrawing) deliveryRow(j *outbox.Journal) (row deliveryRow, soon bool, err error) {
	row = deliveryRow{Icon: iconOfStep(j.Step), What: whatIsSent(j), State: markOfDelivery(j)}
	if j.Count > 0 {
		row.Tried = plural(int(j.Count), "attempt")
	}
	if j.Result != nil && *j.Result != j.State {
		row.Last = shorten(withoutSecrets(*j.Result), mostShown)
	}
	changed := j.Created
	if n := len(j.Attempts); n > 0 {
		changed = j.Attempts[n-1].Started
		if ended := j.Attempts[n-1].Ended; ended != nil {
			changed = *ended
		}
	}
	if row.When, _, err = x.momentOf(changed); err != nil || j.Next == nil {
		return row, j.State == outbox.StateRunning, err
	}
	next, at, err := x.momentOf(*j.Next)
	if j.Count > 0 && at.After(x.now) {
		row.Next = next
	}
	return row, at.Before(x.now.Add(soonTried)), err
}

// momentOf returns an instant of the journal of a delivery as the page shows it.
func (x caseDrawing) momentOf(text string) (template.HTML, time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "", at, errs.Wrap("read when a delivery was tried", err)
	}
	return x.Words.Time(at, x.Words.Moment(at)), at, nil
}

// outputOf returns the end of what the last attempt of a delivery has written that has
// written anything. labels is the folder of the messages of the case.
func (x caseDrawing) outputOf(labels string, j *outbox.Journal) (out []outputView, err error) {
	for i := len(j.Attempts) - 1; i >= 0 && len(out) == 0; i-- {
		for _, stream := range []struct {
			name  string
			label *string
		}{{"Standard output", j.Attempts[i].Stdout}, {"Standard error", j.Attempts[i].Stderr}} {
			if stream.label == nil {
				continue
			}
			at := labels + url.PathEscape(*stream.label)
			a, err := x.hand(&driveRequest{Method: http.MethodGet, Path: at, Header: [][2]string{{"Range", fmt.Sprintf("bytes=-%d", shownOutputBytes)}}}, "")
			if err != nil {
				return nil, err
			}
			if a.status == http.StatusOK || a.status == http.StatusPartialContent { // else it is gone, or not the reader's to see
				out = append(out, outputView{stream.name, endOf(a.body.String()), at})
			}
		}
	}
	return out, nil
}

// endOf returns the last lines of a text. If there are others before them, it begins with an
// ellipsis.
func endOf(text string) string {
	text = strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), "\r\n")
	lines := strings.Split(text, "\n")
	cut := len(text) >= shownOutputBytes-len("\r\n")
	if cut && len(lines) > 1 {
		lines = lines[1:] // the first line may have been cut
	}
	if len(lines) > shownOutputLines {
		lines, cut = lines[len(lines)-shownOutputLines:], true
	}
	text = strings.Join(lines, "\n")
	if cut {
		return "…\n" + text
	}
	return text
}

// markOfDelivery returns how far a delivery is.
func markOfDelivery(j *outbox.Journal) mark {
	switch j.State {
	case outbox.StateWaiting:
		if j.Count > 0 {
			return mark{"warn", "clock", "Is tried again"}
		}
		return mark{"off", "waiting", "Waits"}
	case outbox.StateRunning:
		return mark{"active", "running", "Under way"}
	case outbox.StateFailed:
		return mark{"bad", "failed", "Failed"}
	case machine.EndDelivered:
		return mark{"good", "done", "Done"}
	case machine.EndRecorded:
		return mark{"off", "done", "Recorded"} // nothing leaves a sandbox
	}
	return mark{"off", "cancelled", upperFirst(j.State)}
}

// iconOfStep returns the icon of what is sent.
func iconOfStep(step string) string {
	switch route.Verb(step) {
	case route.StepMail:
		return "msg"
	case route.StepExec:
		return "terminal"
	default:
		return "arrow"
	}
}

// whatIsSent says it in words: "Mail to ann: A lamp".
func whatIsSent(j *outbox.Journal) string {
	what := withoutSecrets(j.What)
	var noun string
	switch route.Verb(j.Step) {
	case route.StepExec:
		noun = "Command"
	case route.StepHTTP:
		noun = "Request"
	case route.StepCall:
		noun = "Callback"
	default:
		return upperFirst(what)
	}
	return strings.TrimSpace(noun + " " + strings.TrimSpace(strings.TrimPrefix(what, j.Step)))
}

var namedSecret = regexp.MustCompile(`\{secret: [^{}]*\}`)

// withoutSecrets returns a text without the names of the server's secrets: who reads the
// page of a case need not know what they are called.
func withoutSecrets(text string) string {
	return namedSecret.ReplaceAllString(text, "a secret address")
}
