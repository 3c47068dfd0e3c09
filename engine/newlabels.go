package engine

import (
	"slices"
	"strings"

	"flowdrive/engine/machine"
	"flowdrive/internal/label"
	"flowdrive/schedule"
)

// expandLabels replaces the labels in the title and the XATTRs of a new case
// (docs/contract/labels-attachments.md#where-labels-are-replaced). It returns what the
// log is to say about labels that are not known. An XATTR may stand in the title, and in
// an XATTR the title as it is without them.
func (e *decider) expandLabels(seed *machine.Case, b *newCase) (warnings []string) {
	values := label.Values{
		Now: b.at, Zone: e.zoneNamed(b.zone), Created: seed.Created, PID: seed.ID, GUID: seed.GUID, Email: b.context.Email,
		Login: string(b.context.Name), Route: b.info.Name, Title: seed.Title, ScheduledFor: b.scheduledFor, Iteration: b.iteration,
	}
	values.Title, _, _ = expandTitle(seed.Title, values)
	var unknown, long []string
	if seed.Xattrs = b.xattrs; !b.literal {
		seed.Xattrs, unknown, long = label.Expand(b.xattrs, &values)
	}
	values.XAttrs = seed.Xattrs
	title, missed, longer := expandTitle(values.Title, values)
	seed.Title = title
	return labelWarnings(append(unknown, missed...), append(long, longer...))
}

// expandTitle returns the title with its labels replaced, and those that are not known or
// would make it too long. A title that would not be one stays as it is.
func expandTitle(title string, values label.Values) (expanded string, missed, long []string) {
	if !strings.Contains(title, "$__") {
		return title, nil, nil
	}
	expanded, missed, long = label.Substitute(title, &values)
	if schedule.FitsTitle(expanded) {
		return expanded, missed, long
	}
	for _, ref := range label.References(title) {
		if !slices.Contains(missed, ref.Written) && !slices.Contains(long, ref.Written) {
			long = append(long, ref.Written)
		}
	}
	return title, missed, long
}
