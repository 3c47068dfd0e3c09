package machine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
	"flowdrive/internal/plaintext"
	"flowdrive/route"
)

// Search is what a message of a case is searched for. It is searched outside, since
// it may be too long to be a fact.
type Search struct {
	Case       int64  // 0: the event's case
	Label      string // of the message
	Words      string // with wordEnd behind each
	IgnoreCase bool
}

const wordEnd = "\x00"

// List returns what is searched for.
func (s Search) List() plaintext.Search {
	words := strings.Split(s.Words, wordEnd)
	return plaintext.Search{Words: words[:len(words)-1], IgnoreCase: s.IgnoreCase}
}

// Found is the result of a search, or what went wrong.
type Found struct {
	Found bool
	Fault string
}

// searchText searches a message for words and sets an XATTR to whether it has one of
// them.
func (d stepRun) searchText(s *route.TextSearch) error {
	words := ""
	for _, word := range s.Contains {
		text, unfilled, err := d.fill(word, nil)
		if err != nil {
			return err
		}
		switch {
		case unfilled.any():
			return unfilled.fault()
		case text == "" || strings.Contains(text, wordEnd):
			return routeFault("text: %s is empty or binary here, and would be found everywhere", clip(word))
		}
		words += text + wordEnd
	}
	key := Search{Label: s.From, Words: words, IgnoreCase: s.IgnoreCase}
	if d.c.ID != d.eventCase {
		key.Case = d.c.ID
	}
	found, err := d.search(key)
	if err != nil {
		return err
	}
	had := d.c.Xattrs
	d.change(Change{Key: s.Set, Value: label.Value{Kind: document.Bool, Text: strconv.FormatBool(found)}})
	return checkDict(d.c.Xattrs, had)
}

func (d stepRun) search(key Search) (bool, error) {
	content, ok := d.content(key.Label)
	switch {
	case !ok:
		return false, errAbsent
	case content == nil && d.tooLong(key.Label):
		result, ok := d.facts.Searched[key]
		if !ok {
			d.need(Need{Search: key})
			return false, errAbsent
		}
		if result.Fault != "" {
			return false, routeFault("text: the message %q: %s", key.Label, result.Fault)
		}
		return result.Found, nil
	case content == nil:
		return false, routeFault("text: there is no message %q", key.Label)
	}
	text, err := plaintext.Decode(content, d.typeOf(key.Label))
	if err != nil {
		return false, routeFault("text: the message %q: %v", key.Label, err)
	}
	found, err := key.List().In(strings.NewReader(text))
	if err != nil {
		return false, routeFault("text: the message %q: %v", key.Label, err)
	}
	return found, nil
}

// table makes a message of the rows of another one.
func (d stepRun) table(t *route.Table) error {
	content, err := d.readBy("csv", t.From)
	if err != nil {
		return err
	}
	if len(content) == 0 && (t.Header || d.c.lacksInput(t.From)) {
		return routeFault("csv: %s", d.c.emptiness(t.From))
	}
	text, err := plaintext.Decode(content, d.typeOf(t.From))
	if errors.Is(err, plaintext.ErrNotUTF8) {
		return contentFault(t.From, "csv: %v. Save it as UTF-8, which spreadsheets call CSV UTF-8", err)
	}
	if err != nil {
		return contentFault(t.From, "csv: %v", err)
	}
	if strings.ContainsRune(text, utf8.RuneError) && !utf8.Valid(content) {
		return contentFault(t.From, "csv: it has bytes that are no characters in its charset")
	}
	rows, err := plaintext.Table{Delimiter: t.Delimiter, Header: t.Header, Min: t.Min}.JSON(text)
	if err != nil {
		return routeFault("csv: the message %q, %v", t.From, err)
	}
	if len(rows) > MaxFact {
		return routeFault("csv: the rows of the message %q are longer as JSON than %s", t.From, maxFactWords)
	}
	return d.writeMessage(NewMessage{Label: t.To, MediaType: "application/json", Content: rows})
}

// readBy returns the content of a message that a step reads. That there is none, and that
// it is longer than a step can read, are faults. The verb is for these.
func (d stepRun) readBy(verb, name string) ([]byte, error) {
	content, ok := d.content(name)
	switch {
	case !ok:
		return nil, errAbsent
	case content == nil && d.tooLong(name):
		return nil, routeFault("%s: the message %q is longer than %s, which is the most that this step can read", verb, name, maxFactWords)
	case content == nil:
		return nil, routeFault("%s: there is no message %q", verb, name)
	}
	return content, nil
}

// lacksInput reports whether a message is the input of a case that was given none: each
// case has the message, which is empty then.
func (c *Case) lacksInput(name string) bool { return name == labelInput && c.InputName == "" }

// emptiness says that a message is empty.
func (c *Case) emptiness(name string) string {
	if c.lacksInput(name) {
		return fmt.Sprintf("the message %q is empty: the case was given no input", name)
	}
	return fmt.Sprintf("the message %q is empty", name)
}

// textOf returns the text of a message for a label. there is false if there is no
// such message. One that is too long is a fault: whatever would stand in its place
// could be decided on.
func (d *caseDecision) textOf(name string) (text string, there bool, err error) {
	content, ok := d.content(name)
	switch {
	case !ok:
		return "", false, errAbsent
	case content == nil && d.tooLong(name):
		return "", false, routeFault("the message %q is longer than %s and cannot stand for a label; the step text can search it", name, maxFactWords)
	case content == nil:
		return "", false, nil
	}
	text, err = plaintext.Decode(content, d.typeOf(name))
	if errors.Is(err, plaintext.ErrNotUTF8) {
		return string(content), true, nil // what is not a character is replaced
	}
	if err != nil {
		return "", false, routeFault("the message %q: %v", name, err)
	}
	return text, true, nil
}

// tooLong reports whether there is a message that is longer than MaxFact, of one
// whose content was looked up and is nil.
func (d *caseDecision) tooLong(name string) bool {
	_, there := d.types[name]
	return there
}

// typeOf returns the media type of a message that was looked up.
func (d *caseDecision) typeOf(name string) string {
	for i := len(d.messages) - 1; i >= 0; i-- {
		if d.messages[i].Label == name {
			return d.messages[i].MediaType
		}
	}
	return d.types[name]
}
