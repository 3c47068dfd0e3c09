package machine

import "flowdrive/internal/errs"

//go:generate go run flowdrive/internal/codecgen marking_codec.go Case

// Marking returns the case as it is stored: the JSON that its fields' tags
// describe, with instants to the nanosecond. The code that writes and reads it
// is generated from the tags, because every event reads one marking and writes
// one, and encoding/json takes several times as long.
func (c *Case) Marking() []byte { return appendCaseJSON(make([]byte, 0, 1024), c) }

// ReadMarking returns the case that Marking wrote. Anything that Marking does
// not write, such as an unknown key, is an error of the kind errs.Internal: only
// this program writes markings, and what is read from one is written back.
func ReadMarking(data []byte) (*Case, error) {
	r := markingReader{data: data}
	r.space()
	c := r.readCase()
	if r.space(); r.err == nil && r.at < len(r.data) {
		r.fail("something follows the end")
	}
	if r.err != nil {
		return nil, errs.Wrap("machine: the marking of a case can't be read", r.err)
	}
	return &c, nil
}
