package status

import (
	"time"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
)

// Refused is what was refused to who looks in the last day, and what else was noted for
// them: refused.
type Refused struct {
	Zone  Zone
	Items []Refusal // the newest first
}

// Refusal is something that was refused.
type Refusal struct {
	At      time.Time
	Path    string // what was to be done there
	Reasons []string
	Note    string // the file with the reasons
	Text    string // the file with what was sent, "" if that is not kept
}

// Text returns the file for people.
func (r *Refused) Text() []byte {
	var p page
	p.line("What was refused to you in the last day, and what else was noted, newest first")
	if len(r.Items) == 0 {
		p.line("\nNothing.")
	}
	for i := range r.Items {
		x := &r.Items[i]
		p.line("\n%s   %s", r.Zone.Minute(x.At), machine.OneLine(x.Path))
		for _, reason := range x.Reasons {
			p.line("  %s", machine.OneLine(reason))
		}
		if x.Text != "" {
			p.line("  What was sent is in %s", machine.OneLine(x.Text))
		}
		p.line("  All of it is in %s", machine.OneLine(x.Note))
	}
	return p.bytes()
}

type refusedPageForm struct {
	Timezone string        `json:"timezone"`
	Items    []refusalForm `json:"items"`
}

type refusalForm struct {
	Time    *string  `json:"time"`
	Path    string   `json:"path"`
	Reasons []string `json:"reasons"`
	Note    string   `json:"note"`
	Text    *string  `json:"text"`
}

// JSON returns the file for programs.
func (r *Refused) JSON() []byte {
	f := refusedPageForm{Timezone: r.Zone.String(), Items: make([]refusalForm, len(r.Items))}
	for i := range r.Items {
		x := &r.Items[i]
		f.Items[i] = refusalForm{r.Zone.instant(x.At), x.Path, append([]string{}, x.Reasons...), x.Note, orNull(x.Text)}
	}
	return document.Form(f)
}
