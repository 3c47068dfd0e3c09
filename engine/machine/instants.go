package machine

import (
	"regexp"
	"time"
)

// stamp matches an instant as logs and warnings write it.
var stamp = regexp.MustCompile(`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z`)

// WithInstants returns a text of the log or a warning with its instants as when writes them.
func WithInstants(text string, when func(time.Time) string) string {
	return stamp.ReplaceAllStringFunc(text, func(s string) string {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return s
		}
		return when(t)
	})
}
