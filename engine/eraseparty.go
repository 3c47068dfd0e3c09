package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"unicode"

	"flowdrive/engine/account"
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/document"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// EraseParty implements account.Ties. What it leaves as it is stands in
// docs/operate/erasing.md.
func (e ties) EraseParty(ctx context.Context, tx store.Tx, r account.Replacement) error {
	who := e.toErase(r.From, r.To)
	if who.address != "" {
		if err := tx.Write().Outbox().DeleteNoticesTo(who.address); err != nil {
			return err
		}
		if err := tx.Write().Settings().Put(recordKey(notice.Mailbox(who.address)), ""); err != nil {
			return err
		}
	}
	for _, word := range who.words() {
		ids, err := mentioning(tx, r, word)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := errors.Join(ctx.Err(), e.eraseInCase(tx, id, who)); err != nil {
				return err
			}
		}
	}
	if err := tx.Write().Parties().Erase(r.From.ID, who.name, who.pseudonym); err != nil {
		return err
	}
	texts, err := tx.Parties().Worded(who.words(), r.Cases)
	if err != nil {
		return err
	}
	return tx.Write().Parties().Reword(texts, who.inJSON)
}

func (e ties) eraseInCase(tx store.Tx, id int64, who *erased) error {
	h, err := e.writtenCase(tx, id)
	if h == nil || err != nil {
		return err
	}
	after, changed := machine.Forget(h.core, who.name, who.pseudonym, who.inText)
	if !changed {
		return nil
	}
	after.Revision++
	c := &caseChange{before: h.core.Shown(), was: h.core, after: after, base: h.row.Revision}
	return rewriteCase(&decider{e.base}, tx, c, *h)
}

// toErase returns what somebody is recognized by.
func (e ties) toErase(had, has *store.Party) *erased {
	who := &erased{name: string(had.Name), fullName: had.FullName, pseudonym: string(has.Name)}
	// Whose mailbox others have, too, is not recognized by it.
	if had.Email != "" && len(e.accounts.Table().UsersOf(had.Email)) <= 1 {
		who.address = had.Email
	}
	return who
}

// erased is somebody whose name is to go.
type erased struct {
	name, address, fullName, pseudonym string

	patterns []*regexp.Regexp // of the words, made when they are first needed
}

// words are the texts by which the person is recognized.
func (w *erased) words() (out []string) {
	for _, word := range []string{w.address, w.fullName, w.name} {
		if word != "" {
			out = append(out, word)
		}
	}
	return out
}

// inText returns a text with the pseudonym in place of the words, in any case, if they are
// not parts of longer ones.
func (w *erased) inText(text string) string {
	if w.patterns == nil {
		for _, word := range w.words() {
			w.patterns = append(w.patterns, regexp.MustCompile(`(?i)`+regexp.QuoteMeta(word)))
		}
	}
	for _, pattern := range w.patterns {
		var b strings.Builder
		end := 0
		for _, at := range pattern.FindAllStringIndex(text, -1) {
			if endsInName(text[:at[0]]) || beginsInName(text[at[1]:]) {
				continue
			}
			b.WriteString(text[end:at[0]])
			b.WriteString(w.pseudonym)
			end = at[1]
		}
		text = b.String() + text[end:]
	}
	return text
}

func inName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r == '@'
}

// endsInName reports whether a name could go on behind the text.
func endsInName(text string) bool {
	r := []rune(text[max(0, len(text)-8):])
	return len(r) > 0 && (inName(r[len(r)-1]) || len(r) > 1 && r[len(r)-1] == '.' && inName(r[len(r)-2]))
}

// beginsInName reports whether a name before the text could go on in it.
func beginsInName(text string) bool {
	r := []rune(text[:min(len(text), 8)])
	return len(r) > 0 && (inName(r[0]) || len(r) > 1 && r[0] == '.' && inName(r[1]))
}

// inJSON returns a stored document about cases and entries with the pseudonym in place of the
// person. All else keeps its bytes. Keys whose values are names of states and actions are
// passed over: they may be called as somebody is.
func (w *erased) inJSON(in []byte) []byte {
	var out bytes.Buffer
	var key, kind string
	for i := 0; i < len(in); {
		if in[i] != '"' {
			out.WriteByte(in[i])
			i++
			continue
		}
		end := i + 1
		for end < len(in) && in[end] != '"' {
			if in[end] == '\\' {
				end++
			}
			end++
		}
		literal := in[i:min(end+1, len(in))]
		i += len(literal)
		var text string
		if json.Unmarshal(literal, &text) != nil {
			out.Write(literal)
			continue
		}
		if rest := bytes.TrimLeft(in[i:], " \n\t"); len(rest) > 0 && rest[0] == ':' {
			key = text
			out.Write(literal)
			continue
		}
		if key == "kind" {
			kind = text
		}
		if now := w.inValue(key, kind, text); now != text {
			literal = document.AppendString(nil, now)
		}
		out.Write(literal)
	}
	return out.Bytes()
}

// inValue returns what a text is that stands under the key, in an entry of that kind if it is
// of a log.
func (w *erased) inValue(key, kind, text string) string {
	switch key {
	case "actor", "onBehalfOf", "holders", "context", "author", "storedBy", "starter":
		if identity.Fold(text) == identity.Fold(w.name) {
			return w.pseudonym
		}
	case "text":
		// What the route calls an action.
		if kind != string(machine.LogAction) && kind != string(machine.LogState) {
			return w.inText(text)
		}
	case "title", "caseTitle", "comment", "reason", "output", "lastFailure":
		return w.inText(text)
	}
	return text
}
