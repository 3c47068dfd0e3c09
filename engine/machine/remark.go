package machine

import (
	"strings"
	"time"

	"flowdrive/internal/errs"
)

// MaxRemark is how many bytes a remark has at most: it is read beside the task that
// it is about (docs/contract/drive.md#remarks).
const MaxRemark = 2000

// remarkRepeated is for how long a remark with the same words is taken for the same one,
// which a client has sent again because it did not get the answer.
const remarkRepeated = time.Hour

// Remark is what a person has said last about a case without doing anything in it.
type Remark struct {
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Text string    `json:"t"`
}

// Again reports whether the person has just made the remark.
func (r *Remark) Again(by, text string, now time.Time) bool {
	return r != nil && sameName(r.By, by) && r.Text == strings.TrimSpace(text) && now.Sub(r.At) < remarkRepeated
}

// remark notes what a person says about the case. Its version stays, so that the form of a
// task that somebody is filling in is not out of date by a remark.
func (d personal) remark(actor Actor, text string) error {
	text = strings.TrimSpace(text)
	if text == "" || d.c.Remark.Again(actor.Name, text, d.now) {
		return nil
	}
	if d.c.LogSeq >= MaxLog {
		return errs.New(errs.NotAllowed, "The log of the case is full: it has %d entries. Nobody can remark anything any more.", MaxLog)
	}
	d.c.Remark = &Remark{By: actor.Name, At: d.now, Text: text}
	d.c.Modified, d.shown = later(d.now, d.c.Modified), true
	d.add(LogEntry{Kind: LogRemark, Actor: new(actor.Name), Trigger: new(ByUser), Comment: &text, Text: textRemarked})
	return nil
}

const textRemarked = "Remarked"

// appendRemark appends the last remark of the case to the form of a task.
func appendRemark(b []byte, c *Case) []byte {
	b = append(b, `,"remark":`...)
	r := c.Remark
	if r == nil {
		return append(b, "null"...)
	}
	b = appendString(append(b, '{'), `"by":`, r.By)
	b = appendTimeOrNull(b, `,"time":`, r.At)
	return append(appendString(b, `,"text":`, r.Text), '}')
}
