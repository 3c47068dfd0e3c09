package schedule

import (
	"bytes"
	"net/url"
	"slices"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// maxAddress is how long the address of a heartbeat may be, in bytes.
const maxAddress = 2000

// Heartbeat has the addresses that are called as the cases of an entry start and end: a
// service that waits for them says when one does not come
// (docs/contract/schedule.md#heartbeat). An address that is not set is not called.
type Heartbeat struct {
	Done    Address // a case is complete
	Started Address // a case has started
	Failed  Address // a case was canceled, or something in it has failed, or there is none
}

// Address is where a heartbeat goes: a URL, or the name of the secret that has it.
// It is not set if both are "".
type Address struct{ URL, Secret string }

// IsSet reports whether there is such an address.
func (a Address) IsSet() bool { return a != Address{} }

// heartbeatPart is one of the addresses, with its key.
type heartbeatPart struct {
	key string
	of  *Address
}

func (h *Heartbeat) parts() []heartbeatPart {
	return []heartbeatPart{{"done", &h.Done}, {"started", &h.Started}, {"failed", &h.Failed}}
}

// Each calls f with each address that is set, and its pointer within the entry.
func (h *Heartbeat) Each(f func(pointer string, a Address)) {
	for _, part := range h.parts() {
		if part.of.IsSet() {
			f("/heartbeat/"+part.key, *part.of)
		}
	}
}

// readHeartbeat reads an address, for the cases that are complete, or an object with an
// address for each moment.
func readHeartbeat(v document.Value) (h Heartbeat) {
	if !v.Given() {
		return h
	}
	if v.Node.Kind == document.String || v.Node.Kind == document.Object && v.Get("secret").Given() {
		h.Done = readAddress(v)
		return h
	}
	if v.Node.Kind != document.Object {
		v.Fail(errs.CodeType, "must be an address, {secret: NAME}, or an object with done, started and failed")
		return h
	}
	var keys []string
	given := false
	for _, part := range h.parts() {
		at := v.Get(part.key)
		keys, given = append(keys, part.key), given || at.Given()
		if at.Given() {
			*part.of = readAddress(at)
		}
	}
	v.Only(keys...)
	if !given && !slices.ContainsFunc(v.Node.Members, func(m document.Member) bool { return !slices.Contains(keys, m.Key) }) {
		v.Fail(errs.CodeRequired, "needs an address: done, started or failed")
	}
	return h
}

// readAddress reads a URL, or {secret: NAME}.
func readAddress(v document.Value) (a Address) {
	if v.Node.Kind == document.Object {
		v.Only("secret")
		at := v.Get("secret")
		if !at.Given() {
			at.Fail(errs.CodeRequired, "is required: the name of a secret")
			return a
		}
		name, ok := at.Str()
		if ok && (name == "" || len(name) > maxAddress) {
			at.Fail(errs.CodeFormat, "must be the name of a secret")
			return a
		}
		a.Secret = name
		return a
	}
	text, ok := v.Str()
	if !ok {
		return a
	}
	u, err := url.Parse(text)
	if err != nil || len(text) > maxAddress || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		v.Fail(errs.CodeFormat, "must be a URL of http or https of up to %d bytes, or {secret: NAME}", maxAddress)
		return a
	}
	a.URL = text
	return a
}

// heartbeat appends the addresses; null if there are none.
func (f *formWriter) heartbeat(h *Heartbeat) {
	if *h == (Heartbeat{}) {
		f.null("heartbeat")
		return
	}
	f.key("heartbeat")
	f.dst = append(f.dst, '{')
	for _, part := range h.parts() {
		if part.of.Secret == "" {
			f.text(part.key, part.of.URL)
			continue
		}
		f.key(part.key)
		f.dst = append(document.AppendString(append(f.dst, `{"secret":`...), part.of.Secret), '}')
	}
	f.dst = append(f.dst, '}')
}

func (s *stored) heartbeat(n *document.Node) (h Heartbeat) {
	if n.Kind != document.Object {
		return h
	}
	for _, part := range h.parts() {
		switch v := n.Get(part.key); {
		case v == nil:
		case v.Kind == document.Object && v.Get("secret") != nil:
			part.of.Secret = s.text(v.Get("secret"))
		default:
			part.of.URL = s.text(v)
		}
	}
	return h
}

// HeartbeatOf reads the heartbeat addresses from a complete form that [Entry.Form]
// made. It returns nil if there are none.
func HeartbeatOf(form []byte) *Heartbeat {
	if !bytes.Contains(form, []byte(`"heartbeat": {`)) {
		return nil
	}
	n, err := document.ParseJSON(form)
	if err != nil || n.Get("heartbeat") == nil {
		return nil
	}
	h := new(stored).heartbeat(n.Get("heartbeat"))
	return &h
}
