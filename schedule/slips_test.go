package schedule

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"flowdrive/internal/document"
)

// TestSlips: words of other schedulers are answered with those of this one, and what is
// advised can be written.
func TestSlips(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ doc, want string }{
		{`{"type": "interval", "interval": 60}`, `/minutes: is required, or another of weeks, days, hours, minutes, seconds; the server computes "interval" of them: did you mean "seconds": 60?`},
		{`{"type": "interval", "every": "1h"}`, `/every: is not a known field; did you mean the type "interval", with "minutes": 60, or another of weeks, days, hours, seconds?`},
		{`{"type": "crontab", "schedule": "@daily"}`, `/schedule: is not a known field; did you mean "spec"`},
		{`{"type": "cron", "hour": 3, "zone": "UTC"}`, `/zone: is not a known field; did you mean "timezone"?`},
		{`{"type": "cron", "hour": 3, "name": "x"}`, `/name: is not a known field; the name of the file is that of the entry`},
		{`{"type": "once"}`, `/type: must be one of simple, interval, cron, crontab, not "once"; did you mean "simple"?`},
		{`{"type": "Daily"}`, `not "Daily"; did you mean the type "crontab", with a "spec" such as "@daily"?`},
		{`{"type": "cron", "huor": 3}`, `/huor: is not a known field; did you mean "hour"?`},
	} {
		node, err := document.ParseJSON([]byte(tt.doc))
		if err != nil {
			t.Fatal(err)
		}
		root := document.Root(node, &document.Faults{})
		Read(root, time.Unix(0, 0), nil, nil)
		var got []string
		for _, f := range root.Faults.List() {
			got = append(got, f.Pointer+": "+f.Detail)
		}
		if !strings.Contains(strings.Join(got, "\n"), tt.want) {
			t.Errorf("%s: got %q, want %q", tt.doc, got, tt.want)
		}
	}
	known := slices.Clone(commonFields)
	for _, of := range typeFields {
		known = append(append(known, of.fields...), string(of.of))
	}
	seen := map[string]bool{}
	for words, says := range fieldSlips {
		for word := range strings.FieldsSeq(words) {
			if seen[word] || word != strings.ToLower(word) || slices.Contains(known, word) && typeOf(word) == "" && word != "cron" && word != "crontab" {
				t.Errorf("%q is there twice, has capitals, or is a field", word)
			}
			seen[word] = true
		}
		for _, m := range regexp.MustCompile(`"([A-Za-z]+)"`).FindAllStringSubmatch(says, -1) {
			if !slices.Contains(known, m[1]) {
				t.Errorf("%q is answered with %q, which is not a field", words, m[1])
			}
		}
	}
}
