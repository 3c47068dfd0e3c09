package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"flowdrive/internal/errs"
)

func sandboxPages() []page {
	g := page{pattern: "/sandbox", query: []string{"do"}, draw: drawSandbox, forms: map[string]form{"advance": moveClock("advance"), "set": moveClock("set"), "next": toNext}, fields: map[string]string{"advance": "advance", "set": "set", "next": ""}}
	return []page{g}
}

// sandboxView is what sandbox.html shows.
type sandboxView struct {
	At     time.Time // the clock
	May    bool      // administrators move the clock
	Set    *asking
	Steps  []clockStep
	Curl   string // what the steps do
	Coming []comingEvent
}

type clockStep struct{ Title, Do, Value, Key string }

type comingEvent struct {
	At   time.Time
	What string
}

// moveClock is the form that moves the clock: by a duration, or to an instant.
func moveClock(key string) form {
	return func(x *visit, v url.Values) (*act, error) {
		value := x.Words.sentDate(strings.TrimSpace(v.Get(key)))
		if value == "" {
			return nil, fieldMissing(key, "A date and time is needed, such as 2012-11-10 08:00.")
		}
		return clockAct(key, value), nil
	}
}

func clockAct(key, value string) *act {
	q := driveRequest{Method: "POST", Path: "/clock", Header: [][2]string{{"Content-Type", "application/json"}}, Body: object(always(key, value))}
	return &act{requests: []driveRequest{q}, to: "/sandbox", done: toldOfStep}
}

// toNext moves the clock to the earliest instant at which something is due, or has what is due now
// go on.
func toNext(x *visit, _ url.Values) (*act, error) {
	at := x.now
	if x.by.Admin() { // the drive refuses others
		due, err := x.Queries.EarliestDue(x.r.Context())
		if err != nil {
			return nil, err
		}
		if due.IsZero() {
			return nil, errs.New(errs.Invalid, "Nothing is due at any time: the clock stays where it is.")
		}
		if due.After(at) {
			at = due
		}
	}
	return clockAct("set", at.UTC().Format(time.RFC3339Nano)), nil
}

// toldOfStep says what a step of the clock has done.
func toldOfStep(answers []*driveAnswer) notice {
	var moved struct {
		Fired    int  `json:"fired"`
		Complete bool `json:"complete"`
	}
	if json.Unmarshal(answers[0].body.Bytes(), &moved) != nil {
		return notice{}
	}
	text := fmt.Sprintf("The clock has moved. %d fired.", moved.Fired)
	if !moved.Complete {
		text += " There is more that is due: move it again to the same instant."
	}
	return notice{Text: text}
}

func drawSandbox(x *visit) error {
	if !x.Sandbox || x.Clock == nil {
		return absent()
	}
	v := &sandboxView{At: x.now, May: x.by.Admin()}
	var overview struct {
		Next []struct {
			At    time.Time `json:"at"`
			Title string    `json:"title"`
		} `json:"next"`
	}
	if err := x.readJSON("/dav/Workflow/Status/overview.json", &overview); err != nil {
		return err
	}
	for _, n := range overview.Next {
		v.Coming = append(v.Coming, comingEvent{n.At, n.Title})
	}
	if v.May {
		v.Steps = []clockStep{{"+1 h", "advance", "PT1H", x.Key()}, {"+1 d", "advance", "P1D", x.Key()}, {"+7 d", "advance", "P7D", x.Key()}}
		var requests []driveRequest
		for _, s := range v.Steps {
			requests = append(requests, clockAct(s.Do, s.Value).requests...)
		}
		due, err := x.Queries.EarliestDue(x.r.Context())
		if err != nil {
			return err
		}
		if !due.IsZero() {
			a, err := toNext(x, nil)
			if err != nil {
				return err
			}
			requests = append(requests, a.requests...)
			v.Steps = append(v.Steps, clockStep{"Next: " + x.Words.Moment(due), "next", "", x.Key()})
		}
		v.Curl = x.curlLines(requests)
		v.Set = x.asks(asking{Do: "set", Title: "Another instant", Submit: "Set the clock", Post: "/sandbox", Fields: []*field{
			{Name: "set", Label: "Date and time", Kind: "datetime", Needed: true, Value: x.Words.Typed(x.now.Truncate(time.Second)), Hint: "Never backwards. What is due on the way is done, in order."},
		}}, moveClock("set"))
	}
	return x.draw("sandbox.html", head{Title: "Sandbox", Nav: "sandbox", Path: "/clock", JSON: "/clock", Narrow: true}, v)
}
