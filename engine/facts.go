package engine

import (
	"context"
	"errors"
	"io"

	"flowdrive/engine/access"
	"flowdrive/engine/change"
	"flowdrive/engine/contents"
	"flowdrive/engine/machine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// finder returns the message of a case with that label, nil for none.
type finder func(label string) (*store.Message, error)

// readFact is a message that a decision rests on. If another version has been
// stored by the time the decision is, the decision is made again.
type readFact struct {
	caseID  int64
	label   string
	version int64 // 0: there was none
}

// readCase is another case that a decision rests on, as it was.
type readCase struct {
	id       int64
	revision int64 // 0: there was none
}

// lookup finds what a decision needs to know.
type lookup struct {
	reader store.Reader // nil if nothing is stored yet that could be read
	holds  store.Reader // tells whether cases may start; nil: they may
	find   finder       // messages of the event's case
	ids    func() int64
	rows   map[int64]*store.Case // other cases, as they were read
	after  map[int64]*caseChange // what an earlier decision of the same change made of some of them

	stores int64 // bytes that the change stores beside what the decision does

	messages []readFact
	cases    []readCase
}

// mostAttempted is what the expressions of all attempts at one decision may cost that lack
// facts: each begins from the start.
const mostAttempted = 2 * machine.MaxCost

// decide asks the core for a decision and looks up facts until it has one.
func (e *decider) decide(in machine.Input, l *lookup) (*machine.Output, error) {
	const rounds = 1000 // each looks up at least one fact more; a case needs few
	a := attempt{id: in.Case.ID, revision: in.Case.Revision, now: in.Now}
	in.Facts.New = e.givenUp.Take(a)
	in.LabelZone = e.zoneNamed(in.Case.LabelZone)
	if in.Spent == nil {
		in.Spent = new(uint64)
	}
	before := *in.Spent
	for range rounds {
		in.Exhausted = *in.Spent-before > mostAttempted
		out, needs, err := machine.Decide(in)
		if err != nil || len(needs) == 0 {
			return out, fullIfNoRoom(err)
		}
		for _, need := range needs {
			if err := e.fact(&in, l, need); err != nil {
				e.giveUp(a, err, in.Facts.New...)
				return nil, err
			}
		}
	}
	return nil, errs.New(errs.Internal, "The core asked for facts without end.")
}

// fact looks one fact up.
func (e *decider) fact(in *machine.Input, l *lookup, need machine.Need) (err error) {
	facts := &in.Facts
	switch {
	case need.Message != "":
		return e.messageNeed(in, l, need)
	case need.Email != "":
		address := ""
		if p := e.directory().ByName(identity.Name(need.Email)); p != nil {
			address = p.Email
		}
		keep(&facts.Emails, need.Email, address)
	case need.Party != "":
		keep(&facts.Parties, need.Party, e.partyKind(need.Party))
	case need.Members != "":
		keep(&facts.Members, need.Members, e.persons(need.Members))
	case need.Admins != 0:
		keep(&facts.Admins, need.Admins, e.rights.Admins(need.Admins))
	case need.Watchers != 0:
		keep(&facts.Watchers, need.Watchers, e.watchers(need.Watchers))
	case need.Route != "":
		var def *machine.Definition
		if def, err = e.definition(l, need.Route, in.Case.ID); err == nil {
			keep(&facts.Routes, need.Route, def)
		}
	case need.Right != machine.StartRight{}:
		keep(&facts.Rights, need.Right, routeAuthors{e.base}.mayStart(need.Right))
	case need.Told != machine.MemberRight{}:
		keep(&facts.Told, need.Told, routeAuthors{e.base}.mayName(need.Told))
	case need.New > 0:
		err = e.identities(in, l, need.New)
	case need.Case != 0:
		var relative *machine.RelatedCase
		if relative, err = e.relative(l, need.Case); err == nil {
			keep(&facts.Cases, need.Case, relative)
		}
	case need.ChildIDs.Case != 0:
		var ids []int64
		if ids, err = l.siblings(need.ChildIDs); err == nil {
			keep(&facts.ChildIDs, need.ChildIDs, ids)
		}
	case need.Children.Case != 0:
		var all []machine.Child
		if all, err = e.children(l, need.Children); err == nil {
			keep(&facts.Children, need.Children, all)
		}
	case need.Plan.Case != 0:
		var plan *machine.Plan
		if plan, err = e.plan(l, need.Plan); err == nil {
			keep(&facts.Plans, need.Plan, plan)
		}
	case need.Filter != machine.Filter{}:
		result, ran := e.filtered.Get(need.Filter)
		if !ran {
			return &filterAhead{need.Filter, identity.ID(in.Case.ContextID)}
		}
		keep(&facts.Filtered, need.Filter, result)
	case need.Search != machine.Search{}:
		return e.searchNeed(in, l, need.Search)
	case need.Room:
		return room{e}.need(in, l)
	case need.Size != machine.InputRef{}:
		return room{e}.size(in, l, need.Size)
	case need.Call != machine.Call{}:
		result, asked := e.called.Get(need.Call)
		if !asked {
			return &callAhead{need.Call, identity.ID(in.Case.ContextID)}
		}
		keep(&facts.Called, need.Call, result)
	}
	return err
}

// keep adds to a map that need not be there yet.
func keep[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// messageNeed looks up the message of the event's case or of another one.
func (e *decider) messageNeed(in *machine.Input, l *lookup, need machine.Need) error {
	find, messages, types := l.find, &in.Facts.Messages, &in.Facts.Types
	id := in.Case.ID
	if need.Case != 0 {
		id = need.Case
		find = func(label string) (*store.Message, error) {
			return store.OrNil(l.reader.Cases().Messages().GetByLabel(id, label))
		}
		relative := in.Facts.Cases[id]
		if relative == nil || l.reader == nil {
			return errs.New(errs.Internal, "The core asked for a message of the case %d, which it does not know.", id)
		}
		messages, types = &relative.Messages, &relative.Types
	}
	m, err := find(need.Message)
	if err != nil {
		return err
	}
	content, version, err := e.messageFact(m)
	if err != nil {
		return err
	}
	keep(messages, need.Message, content)
	if m != nil {
		keep(types, need.Message, m.MediaType)
	}
	l.messages = append(l.messages, readFact{id, need.Message, version})
	return nil
}

// definition returns the latest version of a route, nil for none; self is the
// event's case.
func (e *decider) definition(l *lookup, name string, self int64) (def *machine.Definition, err error) {
	info := e.rights.Named(name)
	if info == nil {
		return nil, nil
	}
	used, err := e.current(l, info)
	if err != nil {
		return nil, err
	}
	def = &machine.Definition{ID: info.ID, Version: info.Version, Route: used.Compiled}
	if l.holds != nil {
		def.StartBlocked, err = startBlocked(l.holds, info.Name, used.Compiled.Group)
		if err == nil && !def.StartBlocked {
			def.StartBlocked, err = e.groupWaits(l.holds, used.Compiled.Group, self)
		}
	}
	return def, err
}

// current returns a route of which the event may start cases.
func (e *decider) current(l *lookup, info *access.Route) (used *usedRoute, err error) {
	for _, from := range []store.Reader{l.reader, l.holds} {
		if from != nil {
			return e.use(from, info)
		}
	}
	err = e.Store.View(context.Background(), func(r store.Reader) (err error) {
		used, err = e.use(r, info)
		return err
	})
	return used, err
}

// messageFact reads a message that a decision may rest on. It returns nil if
// there is none, or if it is too long.
func (e *decider) messageFact(m *store.Message) (content []byte, version int64, err error) {
	if m == nil {
		return nil, 0, nil
	}
	if m.Size > machine.MaxFact {
		return nil, m.Version, nil
	}
	if !m.InFile {
		if m.Content == nil {
			return []byte{}, m.Version, nil
		}
		return m.Content, m.Version, nil
	}
	body, err := e.contents.Open(m.SHA256)
	if errors.Is(err, contents.ErrGone) {
		return nil, 0, change.ErrStale // replaced since it was looked up
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = body.Close() }()
	content, err = io.ReadAll(io.LimitReader(body, machine.MaxFact))
	if err != nil {
		return nil, 0, errs.Wrap("read the message "+m.Label, err)
	}
	return content, m.Version, nil
}

// finder returns the case's messages as they are after the change: what its
// steps wrote, else what is stored. What a further decision reads of those
// holds while the stored ones stand.
func (c *caseChange) finder(stored finder) finder {
	return func(label string) (*store.Message, error) {
		old, err := stored(label)
		for i := len(c.written) - 1; i >= 0 && err == nil; i-- {
			if n := &c.written[i]; n.Label == label {
				m := &store.Message{MediaType: n.MediaType, Size: int64(len(n.Content)), Content: n.Content}
				if old != nil {
					m.Version = old.Version
				}
				return m, nil
			}
		}
		return old, err
	}
}

// factsHold returns change.ErrStale if a message that the change rests on has
// been written since.
func factsHold(tx store.Tx, c *caseChange) error {
	for _, fact := range c.read {
		m, err := store.OrNil(tx.Cases().Messages().GetByLabel(fact.caseID, fact.label))
		if err != nil {
			return err
		}
		if m == nil && fact.version != 0 || m != nil && m.Version != fact.version {
			return change.ErrStale
		}
	}
	for _, fact := range c.readCases {
		revision, err := tx.Cases().Revision(fact.id)
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
		if revision != fact.revision {
			return change.ErrStale
		}
	}
	return nil
}

// putWritten stores the messages that steps wrote; of several with one label,
// the last. They count against the starter's quota; their room was taken as they were decided.
func (e *decider) putWritten(tx store.Tx, c *caseChange) error {
	for i, n := range c.written {
		replaced := false
		for _, other := range c.written[i+1:] {
			replaced = replaced || other.Label == n.Label
		}
		if replaced {
			continue
		}
		inline := &contents.Content{MediaType: n.MediaType, Inline: n.Content}
		m := inline.Message(c.row.ID, mustGUID(c.after.GUID), n.Label)
		m.Created, m.Modified, m.AuthorID = c.after.Modified, c.after.Modified, c.row.StarterID
		if err := e.replace(tx, m); err != nil {
			return err
		}
	}
	return nil
}

// replace stores a message in place of the one with its label, if there is one.
func (e *decider) replace(tx store.Tx, m *store.Message) error {
	old, err := store.OrNil(tx.Cases().Messages().GetByLabel(m.CaseID, m.Label))
	if err != nil {
		return err
	}
	if old != nil {
		m.Version, m.UUID, m.Created = old.Version+1, old.UUID, old.Created
		if old.InFile {
			e.contents.RouseAfter(tx)
		}
	}
	return tx.Write().Cases().Messages().Put(m)
}
