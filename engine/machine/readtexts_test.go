package machine

import (
	"testing"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

// TestTextsWithAnAction: a text that reads as the type that the route declares, or that the
// form asks for, is taken as a value of it, as at a start. Others stay texts.
func TestTextsWithAnAction(t *testing.T) {
	t.Parallel()
	r := parsed(t, `
xattrs:
  cost: {type: number}
  paid: {type: boolean}
  code: {type: string}
states: {a: {type: start}}
actions:
  begin: {trigger: init}
  go:
    in: [a]
    allowed: everyone
    form: {properties: {cost: {type: number, minimum: 1}, paid: {type: boolean}, code: {type: string}, count: {type: integer}, ready: {type: boolean}, any: {}}}
`)
	number := func(text string) label.Value { return label.Value{Kind: document.Number, Text: text} }
	truth := label.Value{Kind: document.Bool, Text: "true"}
	for _, test := range []struct {
		key, text string
		want      label.Value
		fault     string
	}{
		{"cost", "5", number("5"), ""},
		{"paid", "true", truth, ""},
		{"code", "5", label.Text("5"), ""},
		{"count", "7", number("7"), ""},
		{"ready", "true", truth, ""},
		{"any", "5", label.Text("5"), ""},
		{"cost", "0", label.Value{}, "/xattrDict/cost: must be at least 1, not 0"},
		{"cost", "5,5", label.Value{}, "/xattrDict/cost: must be a number; write it with a point: 5.5"},
		{"count", "true", label.Value{}, "/xattrDict/count: must be a whole number"},
		{"ready", "5", label.Value{}, "/xattrDict/ready: must be true or false"},
	} {
		p := &play{t: t, r: r, c: seed(), now: startOfTests(), messages: map[string][]byte{}}
		for _, event := range []Event{Create{}, Start{}} {
			if err := p.event(event); err != nil {
				t.Fatal(err)
			}
		}
		err := p.event(Perform{Action: "go", Actor: actorNamed("sam"), Xattrs: []Change{{Key: test.key, Value: label.Text(test.text)}}})
		fault := ""
		if err != nil {
			fault = asError(t, err).Detail
		}
		if got, _ := p.c.Xattrs.Get(test.key); got != test.want || fault != test.fault {
			t.Errorf("%s=%s: %+v %q, want %+v %q", test.key, test.text, got, fault, test.want, test.fault)
		}
	}
}
