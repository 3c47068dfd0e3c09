package engine

import (
	"fmt"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/engine/prefetch"
	"flowdrive/internal/errs"
	"flowdrive/internal/plaintext"
	"flowdrive/store"
)

// mostSearched is how long a message may be that a step searches, in bytes.
const mostSearched = 64 << 20

// searchAhead is the error of a decision that needs a long message to be searched;
// see filterAhead.
type searchAhead struct{ key prefetch.SearchKey }

// Error implements error.
func (s *searchAhead) Error() string { return "a long message is to be searched first" }

// Unwrap says that it is not a defect: the same change succeeds later.
func (s *searchAhead) Unwrap() error {
	return errs.New(errs.Unavailable, "A message of the case has not been searched yet; try again.")
}

// searchNeed finds the result of a search. That the message stays as it is the
// decision checks already, since it asked for its content before.
func (e *decider) searchNeed(in *machine.Input, l *lookup, search machine.Search) error {
	find := l.find
	if search.Case != 0 {
		find = func(label string) (*store.Message, error) {
			return store.OrNil(l.reader.Cases().Messages().GetByLabel(search.Case, label))
		}
	}
	m, err := find(search.Label)
	if err != nil {
		return err
	}
	switch {
	case m == nil:
		return change.ErrStale
	case m.Size > mostSearched:
		keep(&in.Facts.Searched, search, machine.Found{Fault: fmt.Sprintf("it has %d bytes, more than the %d that can be searched", m.Size, mostSearched)})
		return nil
	}
	key := prefetch.SearchKey{SHA256: m.SHA256, MediaType: m.MediaType, Words: search.Words, IgnoreCase: search.IgnoreCase}
	found, searched := e.searched.Get(key)
	if !searched {
		return &searchAhead{key}
	}
	keep(&in.Facts.Searched, search, found)
	return nil
}

// searchContent searches a content. What is wrong with the text is in the result. It
// returns contents.ErrGone if the content was replaced.
func (e *base) searchContent(s *searchAhead) (machine.Found, error) {
	body, err := e.contents.Open(s.key.SHA256)
	if err != nil {
		return machine.Found{}, err
	}
	defer func() { _ = body.Close() }()
	text, err := plaintext.NewReader(body, s.key.MediaType)
	if err != nil {
		return machine.Found{Fault: err.Error()}, nil
	}
	found, err := machine.Search{Words: s.key.Words, IgnoreCase: s.key.IgnoreCase}.List().In(text)
	return machine.Found{Found: found}, errs.Wrap("search a message", err)
}
