package route

import (
	"strings"
	"unicode/utf8"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// Table makes the message To, JSON, of the rows of the message From.
type Table struct {
	From, To  string
	Delimiter rune // 0: it is detected
	Header    bool // the first row names the columns
	Min       int  // fewer rows are a fault
}

// TextSearch sets an XATTR to whether a message contains one of some texts.
type TextSearch struct {
	From       string
	Contains   []string // with labels
	Set        string   // key of the XATTR
	IgnoreCase bool
}

func (c *compiler) table(v document.Value) *Table {
	t := &Table{Header: true}
	t.From = c.from(v.Get("from"))
	t.To, _ = str(v.Get("to"))
	if header := v.Get("header"); isKind(header, document.Bool) {
		t.Header = header.Node.Bool
	}
	least, _ := whole(v.Get("min")) // the schema has judged it; 0 is not positive
	t.Min = int(least)
	at := v.Get("delimiter")
	if text, ok := str(at); ok {
		if t.Delimiter, _ = utf8.DecodeRuneInString(text); t.Delimiter == '"' || t.Delimiter < ' ' && t.Delimiter != '\t' || t.Delimiter == utf8.RuneError {
			at.Fail(errs.CodeFormat, "must be a character that can stand between values, such as ; or a tab")
		}
	}
	return t
}

func (c *compiler) textSearch(v document.Value) *TextSearch {
	s := &TextSearch{}
	s.From = c.from(v.Get("from"))
	if ignore := v.Get("ignoreCase"); isKind(ignore, document.Bool) {
		s.IgnoreCase = ignore.Node.Bool
	}
	if list := v.Get("contains"); isKind(list, document.List) {
		for i := range list.Node.Items {
			item := list.Item(i)
			if text, ok := str(item); ok {
				s.Contains = append(s.Contains, text)
				c.useText(item)
				if strings.Contains(text, "\x00") {
					item.Fail(errs.CodeFormat, "must not have a NUL character")
				}
			}
		}
	}
	at := v.Get("set")
	name, ok := str(at)
	if !ok {
		return s
	}
	key, err := label.NormalizeKey(name)
	if err != nil {
		at.Fail(errs.CodeFormat, "%s", err)
		return s
	}
	if x := c.route.Xattr(key); x != nil && !x.Fits(label.Value{Kind: document.Bool, Text: "true"}) {
		at.Fail(errs.CodeType, "is declared as %s, and the step sets true or false", x.Wants())
	}
	s.Set = key
	return s
}
