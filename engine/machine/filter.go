package machine

import (
	"time"

	"flowdrive/internal/document"
	"flowdrive/route"
)

// maxFilters is how many jq filters one event may run. Each may take a second.
const maxFilters = 10

// filter makes a message of another one by a jq filter. The result of the filter is
// a fact: it is computed outside, where time and memory are bounded.
func (d stepRun) filter(f *route.Filter) error {
	content, err := d.readBy("jq", f.From)
	if err != nil {
		return err
	}
	if len(content) == 0 {
		return routeFault("jq: %s", d.c.emptiness(f.From))
	}
	if n, err := document.ParseJSON(content); err != nil || n == nil {
		return routeFault("jq: the message %q is not JSON; the step csv makes rows of a table", f.From)
	}
	if d.filters == maxFilters {
		return routeFault("jq: more than %d filters in one event", maxFilters)
	}
	d.filters++
	key := Filter{Filter: f.Filter, Input: string(content), Xattr: string(d.c.Xattrs.AppendJSON(nil)), Case: string(d.about())}
	result, ok := d.facts.Filtered[key]
	switch {
	case !ok:
		d.need(Need{Filter: key})
		return errAbsent
	case result.Fault != "":
		return routeFault("jq: %s", result.Fault)
	}
	return d.writeMessage(NewMessage{Label: f.To, MediaType: "application/json", Content: result.Output})
}

// about returns what filters and callbacks see of the case itself, as JSON.
func (d *caseDecision) about() []byte {
	b := appendInt(nil, `{"id":`, d.c.ID)
	b = appendString(b, `,"title":`, d.c.Title)
	b = appendTextOrNull(b, `,"status":`, d.c.Status)
	b = appendString(b, `,"starter":`, d.c.Starter)
	b = appendString(b, `,"created":`, d.c.Created.UTC().Format(time.RFC3339))
	return append(appendInt(b, `,"version":`, d.c.Version), '}')
}
