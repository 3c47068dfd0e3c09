package engine

import (
	"errors"
	"io"

	"flowdrive/engine/core"
	"flowdrive/errs"
	"flowdrive/identity"
)

// finder returns the message of a case with that label, nil for none.
type finder func(label string) (*Message, error)

// readFact is a message that a decision rests on: where another version is
// stored by the time the decision is, it is made again.
type readFact struct {
	label   string
	version int64 // 0: there was none
}

// decide asks the core, and looks up what it needs until it decides.
func (e *Engine) decide(in core.Input, find finder) (*core.Output, []readFact, error) {
	const rounds = 100 // each looks up at least one fact more; a case needs few
	var read []readFact
	for range rounds {
		out, needs, err := core.Decide(in)
		if err != nil {
			return nil, nil, err
		}
		if len(needs) == 0 {
			return out, read, nil
		}
		for _, need := range needs {
			if need.Message == "" {
				e.partyFact(&in.Facts, need)
				continue
			}
			content, version, err := e.messageFact(need.Message, find)
			if err != nil {
				return nil, nil, err
			}
			if in.Facts.Messages == nil {
				in.Facts.Messages = map[string][]byte{}
			}
			in.Facts.Messages[need.Message] = content
			read = append(read, readFact{need.Message, version})
		}
	}
	return nil, nil, errs.New(errs.Internal, "The core asked for facts without end.")
}

// partyFact looks up what a name stands for, or its address.
func (e *Engine) partyFact(facts *core.Facts, need core.Need) {
	if need.Email == "" {
		if facts.Parties == nil {
			facts.Parties = map[string]core.PartyKind{}
		}
		facts.Parties[need.Party] = e.partyKind(need.Party)
		return
	}
	if facts.Emails == nil {
		facts.Emails = map[string]string{}
	}
	facts.Emails[need.Email] = ""
	if p := e.directory().ByName(identity.Name(need.Email)); p != nil {
		facts.Emails[need.Email] = p.Email
	}
}

// messageFact reads a message that a decision may rest on: nil where there is
// none, or one too long.
func (e *Engine) messageFact(label string, find finder) (content []byte, version int64, err error) {
	m, err := find(label)
	if err != nil || m == nil {
		return nil, 0, err
	}
	if m.Size > core.MaxFact {
		return nil, m.Version, nil
	}
	if !m.InFile {
		if m.Content == nil {
			return []byte{}, m.Version, nil
		}
		return m.Content, m.Version, nil
	}
	body, err := e.openBlob(m.SHA256)
	if errors.Is(err, errGone) {
		return nil, 0, errStale // replaced since it was looked up
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = body.Close() }()
	content, err = io.ReadAll(io.LimitReader(body, core.MaxFact))
	if err != nil {
		return nil, 0, errs.Wrap("read the message "+label, err)
	}
	return content, m.Version, nil
}

// finder returns the case's messages as they are after the change: what its
// steps wrote, else what is stored. What a further decision reads of those
// holds while the stored ones stand.
func (c *caseChange) finder(stored finder) finder {
	return func(label string) (*Message, error) {
		old, err := stored(label)
		for i := len(c.written) - 1; i >= 0 && err == nil; i-- {
			if n := &c.written[i]; n.Label == label {
				m := &Message{Size: int64(len(n.Content)), Content: n.Content}
				if old != nil {
					m.Version = old.Version
				}
				return m, nil
			}
		}
		return old, err
	}
}

// factsHold answers errStale where a message that the change rests on was
// written since.
func factsHold(tx Tx, c *caseChange) error {
	for _, fact := range c.read {
		m, err := orNil(tx.MessageByLabel(c.row.ID, fact.label))
		if err != nil {
			return err
		}
		if m == nil && fact.version != 0 || m != nil && m.Version != fact.version {
			return errStale
		}
	}
	return nil
}

// putWritten stores the messages that steps wrote; of one label the last.
// They are the starter's and count against its quota, but a full one does
// not hold up what the engine does for others.
func (e *Engine) putWritten(tx Tx, c *caseChange) error {
	for i, n := range c.written {
		replaced := false
		for _, other := range c.written[i+1:] {
			replaced = replaced || other.Label == n.Label
		}
		if replaced {
			continue
		}
		inline := &content{mediaType: n.MediaType, inline: n.Content}
		m := inline.message(c.row.ID, mustGUID(c.after.GUID), n.Label)
		m.Created, m.Modified, m.AuthorID = c.after.Modified, c.after.Modified, c.row.StarterID
		old, err := orNil(tx.MessageByLabel(c.row.ID, n.Label))
		if err != nil {
			return err
		}
		if old != nil {
			m.Version, m.UUID, m.Created = old.Version+1, old.UUID, old.Created
			if old.InFile {
				e.unreferred(tx)
			}
		}
		if err := tx.PutMessage(m); err != nil {
			return err
		}
	}
	return nil
}
