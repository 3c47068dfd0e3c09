package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// ReadForm reads a complete form that [Entry.Form] made. It trusts the
// values, which were read from a client once; zones knows those that the
// client named. An error is of kind Internal.
func ReadForm(data []byte, zones Zones) (*Entry, error) {
	const op = "read a stored schedule entry"
	n, err := document.ParseJSON(data)
	if err != nil {
		return nil, errs.Wrap(op, err)
	}
	e := &Entry{zones: zones}
	var s stored
	for _, m := range n.Members {
		s.at = m.Key
		s.member(e, m.Key, m.Value)
	}
	if s.bad != "" {
		return nil, errs.Wrap(op, fmt.Errorf("entry %s: the value of %q does not read", e.UUID, s.bad))
	}
	if p := e.compile(); p != nil {
		return nil, errs.Wrap(op, fmt.Errorf("entry %s: %s", e.UUID, p.detail))
	}
	return e, nil
}

// member reads the value of one key. An unknown key was written by a later
// version and is skipped.
func (s *stored) member(e *Entry, key string, n *document.Node) {
	switch key {
	case "UUID":
		e.UUID = s.uuid(n)
	case "type":
		e.Type = Type(s.text(n))
	case "routeId":
		e.RouteID = s.int(n)
	case "route":
		e.Route = s.text(n)
	case "contextId":
		e.ContextID = s.int(n)
	case "context":
		e.Context = s.text(n)
	case "priority":
		e.Priority = int(s.int(n))
	case "xattrDict":
		e.XattrDict = s.xattrs(n)
	case "attachmentUUID":
		e.AttachmentUUID = s.text(n)
	case "document":
		e.Document = s.text(n)
	case "nextIteration":
		e.NextIteration = s.time(n)
	case "iterationsPerformed":
		e.IterationsPerformed = s.int(n)
	case "iterationsRemaining":
		e.IterationsRemaining = s.int(n)
	case "repeat":
		e.Repeat = s.int(n)
	case "heartbeat":
		e.Heartbeat = s.heartbeat(n)
	case "paused":
		e.Paused = s.truth(n)
	case "note":
		e.Note = s.text(n)
	case "title":
		e.Title = s.text(n)
	case "description":
		e.Description = s.text(n)
	case "upcoming":
		for _, item := range n.Items {
			e.Upcoming = append(e.Upcoming, s.time(item))
		}
	case "lastIteration":
		e.LastIteration = s.time(n)
	case "lastCase":
		e.LastCase = s.int(n)
	case "lastError":
		e.LastError = s.text(n)
	case "warnings": // the others follow from the entry
		for _, item := range n.Items {
			if strings.HasPrefix(item.Text, cannotStart) {
				e.CannotStart = append(e.CannotStart, item.Text)
			}
			if strings.HasPrefix(item.Text, unknownXattr) {
				e.Unknown = append(e.Unknown, item.Text)
			}
			if strings.HasPrefix(item.Text, leftUnfilled) {
				e.Unfilled = append(e.Unfilled, item.Text)
			}
		}
	case "created":
		e.Created = s.time(n)
	case "modified":
		e.Modified = s.time(n)
	default:
		_ = s.recurrence(e, key, n) || s.policy(&e.Policies, key, n)
	}
}

// recurrence reads a field of one of the types.
func (s *stored) recurrence(e *Entry, key string, n *document.Node) (known bool) {
	switch key {
	case "date":
		e.Date = s.time(n)
	case "interval":
		e.Interval = time.Duration(s.int(n)) * time.Second
	case "year":
		e.Cron.Year = s.text(n)
	case "month":
		e.Cron.Month = s.text(n)
	case "day":
		e.Cron.Day = s.text(n)
	case "week":
		e.Cron.Week = s.text(n)
	case "dayOfWeek":
		e.Cron.Weekday = s.text(n)
	case "hour":
		e.Cron.Hour = s.text(n)
	case "minute":
		e.Cron.Minute = s.text(n)
	case "spec":
		e.Spec = s.text(n)
	default:
		for _, unit := range e.Units.list() {
			if unit.key == key {
				n := s.int(n)
				*unit.value = &n
				return true
			}
		}
		return false
	}
	return true
}

func (s *stored) policy(p *Policies, key string, n *document.Node) (known bool) {
	switch key {
	case "timezone":
		p.Timezone = s.text(n)
	case "misfire":
		p.Misfire = Misfire(s.text(n))
	case "graceSeconds":
		p.GraceSeconds = int(s.int(n))
	case "overlap":
		p.Overlap = Overlap(s.text(n))
	case "jitterSeconds":
		p.JitterSeconds = int(s.int(n))
	case "start":
		p.Start = s.time(n)
	case "end":
		p.End = s.time(n)
	case "exclude":
		for _, item := range n.Items {
			p.Exclude = append(p.Exclude, s.exclusion(item))
		}
	case "excludeCalendar":
		p.ExcludeCalendar = s.text(n)
	case "dstGap":
		p.DSTGap = DSTGap(s.text(n))
	case "dstOverlap":
		p.DSTOverlap = DSTOverlap(s.text(n))
	default:
		return false
	}
	return true
}

func (s *stored) exclusion(n *document.Node) Exclusion {
	if n.Kind == document.String {
		return Exclusion{Date: n.Text}
	}
	from, to := n.Get("from"), n.Get("to")
	if from == nil || to == nil {
		s.fail()
		return Exclusion{}
	}
	return Exclusion{From: s.text(from), To: s.text(to)}
}

func (s *stored) xattrs(n *document.Node) (list []XAttr) {
	for _, m := range n.Members {
		value, ok := xattrValue(m.Value)
		if !ok {
			s.fail()
		}
		list = append(list, XAttr{Key: m.Key, Value: value})
	}
	return list
}

// stored reads the values of a form. It keeps the first key whose value is
// not of its kind.
type stored struct{ at, bad string }

func (s *stored) fail() {
	if s.bad == "" {
		s.bad = s.at
	}
}

// text reads a string; null is "".
func (s *stored) text(n *document.Node) string {
	if n.Kind != document.String && n.Kind != document.Null {
		s.fail()
	}
	return n.Text
}

// int reads a whole number; null is 0.
func (s *stored) int(n *document.Node) int64 {
	if n.Kind == document.Null {
		return 0
	}
	i, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil || n.Kind != document.Number {
		s.fail()
	}
	return i
}

func (s *stored) truth(n *document.Node) bool {
	if n.Kind != document.Bool {
		s.fail()
	}
	return n.Bool
}

func (s *stored) uuid(n *document.Node) string {
	if n.Kind == document.Null {
		return ""
	}
	hex, ok := parseUUID(n.Text)
	if !ok {
		s.fail()
	}
	return hex
}

func (s *stored) time(n *document.Node) time.Time {
	if n.Kind == document.Null {
		return time.Time{}
	}
	t, p := parseTime(n.Text)
	if p != nil {
		s.fail()
	}
	return t
}
