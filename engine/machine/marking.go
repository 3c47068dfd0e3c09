package machine

import (
	"time"

	"flowdrive/internal/document"
)

// Marking returns the case as it is stored: the JSON that its fields' tags
// describe, instants as exact as they are. It is written by hand because
// every event of every case writes it once.
func (c *Case) Marking() []byte {
	b := make([]byte, 0, 1024)
	b = appendInt(b, `{"id":`, c.ID)
	b = appendString(b, `,"guid":`, c.GUID)
	b = appendInt(b, `,"rid":`, c.RouteID)
	b = appendString(b, `,"rn":`, c.RouteName)
	b = appendInt(b, `,"rv":`, c.RouteVersion)
	b = appendFilled(b, `,"t":`, c.Title)
	b = appendString(b, `,"l":`, string(c.Life))
	if c.Held {
		b = append(b, `,"h":true`...)
	}
	b = appendSet(b, `,"hu":`, c.HeldUntil)
	b = appendSet(b, `,"sa":`, c.StartAt)
	b = appendFilled(b, `,"s":`, c.Status)
	b = appendInt(b, `,"cid":`, c.ContextID)
	b = appendString(b, `,"c":`, c.Context)
	b = appendString(b, `,"by":`, c.Starter)
	b = appendInt(b, `,"p":`, int64(c.Priority))
	b = c.appendPlayers(b)
	if len(c.Xattrs) > 0 {
		b = c.Xattrs.AppendJSON(append(b, `,"x":`...))
	}
	b = c.appendEnabled(b)
	b = appendNonzero(b, `,"lr":`, c.LastRow)
	for i := range c.Timers {
		b = appendTimer(appendItem(b, `,"ti":`, i), &c.Timers[i])
	}
	b = appendEnd(b, len(c.Timers))
	b = appendNonzero(b, `,"v":`, c.Visit)
	if len(c.Done) > 0 {
		b = appendStrings(append(b, `,"vd":`...), c.Done)
	}
	if len(c.Withdrawn) > 0 {
		b = appendStrings(append(b, `,"wd":`...), c.Withdrawn)
	}
	if len(c.Interrupted) > 0 {
		b = appendStrings(append(b, `,"in":`...), c.Interrupted)
	}
	b = c.appendPerformed(b)
	b = c.appendWritten(b)
	b = appendFilled(b, `,"re":`, c.Resolution)
	b = c.appendOutbox(c.appendWarnings(b))
	b = c.appendFamily(b)
	b = appendNonzero(b, `,"q":`, c.LogSeq)
	b = appendInt(b, `,"ver":`, c.Version)
	b = appendInt(b, `,"rev":`, c.Revision)
	b = appendFilled(b, `,"su":`, c.ScheduleUUID)
	b = appendSet(b, `,"sf":`, c.ScheduledFor)
	b = appendNonzero(b, `,"si":`, c.Iteration)
	b = appendInstant(append(b, `,"cr":`...), c.Created)
	b = appendSet(b, `,"st":`, c.Started)
	b = appendInstant(append(b, `,"mo":`...), c.Modified)
	b = appendSet(b, `,"co":`, c.Completed)
	b = appendSet(b, `,"en":`, c.Ended)
	return append(b, '}')
}

func (c *Case) appendPlayers(b []byte) []byte {
	for i := range c.Roles {
		b = appendItem(b, `,"r":`, i)
		b = appendString(b, `{"r":`, c.Roles[i].Role)
		b = append(appendStrings(append(b, `,"p":`...), c.Roles[i].Parties), '}')
	}
	b = appendEnd(b, len(c.Roles))
	if len(c.Stakeholders) > 0 {
		b = appendStrings(append(b, `,"sh":`...), c.Stakeholders)
	}
	return b
}

func (c *Case) appendEnabled(b []byte) []byte {
	for i := range c.Enabled {
		e := &c.Enabled[i]
		b = appendItem(b, `,"e":`, i)
		b = appendInt(b, `{"n":`, e.Row)
		b = appendString(b, `,"a":`, e.Action)
		b = appendString(b, `,"s":`, string(e.State))
		b = appendInstant(append(b, `,"f":`...), e.Since)
		b = e.appendOffer(e.Kids.append(appendSet(b, `,"d":`, e.Due)))
		b = appendOwnTimer(b, `,"ta":`, e.AcceptBy)
		b = appendOwnTimer(b, `,"td":`, e.DoBy)
		b = append(appendSet(appendOwnTimer(b, `,"tf":`, e.FireBy), `,"rm":`, e.Remind), '}')
	}
	return appendEnd(b, len(c.Enabled))
}

func (c *Case) appendPerformed(b []byte) []byte {
	for i := range c.Performed {
		p := &c.Performed[i]
		b = appendItem(b, `,"d":`, i)
		b = appendString(b, `{"a":`, p.Action)
		b = appendInt(b, `,"n":`, p.Count)
		b = appendFilled(b, `,"by":`, p.By)
		b = appendFilled(b, `,"fo":`, p.For)
		b = appendInstant(append(b, `,"at":`...), p.At)
		b = appendFilled(b, `,"fr":`, p.From)
		b = appendFilled(b, `,"re":`, p.Resolution)
		b = appendFilled(b, `,"o":`, p.Output)
		b = appendNonzero(b, `,"us":`, p.Used)
		b = append(appendNonzero(b, `,"q":`, p.Seq), '}')
	}
	return appendEnd(b, len(c.Performed))
}

func (c *Case) appendWritten(b []byte) []byte {
	for i := range c.Written {
		w := &c.Written[i]
		b = appendItem(b, `,"wr":`, i)
		b = appendString(b, `{"l":`, w.Label)
		b = appendInt(b, `,"n":`, w.Number)
		b = appendFilled(b, `,"by":`, w.By)
		b = append(appendInstant(append(b, `,"at":`...), w.At), '}')
	}
	return appendEnd(b, len(c.Written))
}

func (c *Case) appendWarnings(b []byte) []byte {
	for i := range c.Warnings {
		w := &c.Warnings[i]
		b = appendItem(b, `,"w":`, i)
		b = appendString(b, `{"timer":`, w.Timer)
		b = appendInstant(append(b, `,"time":`...), w.Time)
		b = appendString(b, `,"text":`, w.Text)
		b = append(appendNonzero(b, `,"n":`, w.Row), '}')
	}
	return appendEnd(b, len(c.Warnings))
}

// appendItem begins the i-th item of a list: the first one opens it.
func appendItem(b []byte, key string, i int) []byte {
	if i == 0 {
		return append(append(b, key...), '[')
	}
	return append(b, ',')
}

// appendEnd ends a list of n items, if there is one.
func appendEnd(b []byte, n int) []byte {
	if n == 0 {
		return b
	}
	return append(b, ']')
}

func appendFilled(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	return document.AppendString(append(b, key...), s)
}

func appendNonzero(b []byte, key string, n int64) []byte {
	if n == 0 {
		return b
	}
	return appendInt(b, key, n)
}

func appendSet(b []byte, key string, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return appendInstant(append(b, key...), t)
}

func appendInstant(b []byte, t time.Time) []byte {
	b = t.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano)
	return append(b, '"')
}
