package machine

import (
	"regexp"
	"strings"
)

// logNames finds the names of users and teams in the texts that the engine writes into logs:
// a group each, with commas between the names of several.
var logNames = []*regexp.Regexp{
	regexp.MustCompile(`^Reminded (.+)$`),
	regexp.MustCompile(`^Delegated .+ to (\S+)$`),
	regexp.MustCompile(`^Released .+: (\S+) was disabled$`),
	regexp.MustCompile(`^Assigned [^:]+: (.+)$`),
	regexp.MustCompile(`^Stakeholders: (.+)$`),
	regexp.MustCompile(`^Handed over from (\S+) to (\S+)$`),
	regexp.MustCompile(`^(\S+) does not count any more: not in the role .+$`),
	regexp.MustCompile(`^Without an e-mail address: (.+)$`),
}

// LogWords returns the text of an entry of a log with the names of users and teams as show
// has them. What a route has logged stays as it is.
func LogWords(e *LogEntry, show func(name string) string) string {
	if e.Kind == LogTask && e.Trigger != nil && *e.Trigger == ByStep {
		return e.Text
	}
	for _, pattern := range logNames {
		m := pattern.FindStringSubmatchIndex(e.Text)
		if m == nil {
			continue
		}
		var b strings.Builder
		done := 0
		for group := 2; group < len(m); group += 2 {
			b.WriteString(e.Text[done:m[group]])
			names := strings.Split(e.Text[m[group]:m[group+1]], ", ")
			for i := range names {
				names[i] = show(names[i])
			}
			b.WriteString(strings.Join(names, ", "))
			done = m[group+1]
		}
		return b.String() + e.Text[done:]
	}
	return e.Text
}
