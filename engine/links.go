package engine

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"

	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// readLinks reads the relations of a case to others that a document sets: an
// object whose members are merged into those that the case has. null removes a
// relation, and for the whole object all of them. has is the case as it is, with
// the id 0 if it is new. A case that by may not see is a fault in the words for
// one that does not exist (docs/contract/drive.md#relations).
func (e *base) readLinks(r store.Reader, by identity.Principal, v document.Value, has *machine.Case) (changes []machine.RelationChange, err error) {
	if v.Node != nil && v.Node.Kind == document.Null {
		for _, l := range has.Relations {
			changes = append(changes, machine.RelationChange{Name: l.Name})
		}
		return changes, nil
	}
	if !v.Given() || !v.Is(document.Object) {
		return nil, nil
	}
	count := len(has.Relations)
	for i := range v.Node.Members {
		name, member := v.Member(i)
		if !isRelation(name) {
			member.Fail(errs.CodeFormat, "the name of a relation must be 1 to 63 letters, digits and _, the first not a digit, not %q", name)
			continue
		}
		if !member.Given() {
			changes = append(changes, machine.RelationChange{Name: name})
			continue
		}
		id, ok := member.Int(1, 1<<53-1)
		if !ok {
			continue
		}
		if before := has.Related(name); before == 0 {
			count++
		} else if before == id {
			continue // it was checked when it was set
		}
		if err := e.checkLink(r, by, member, id, has.ID); err != nil {
			return nil, err
		}
		changes = append(changes, machine.RelationChange{Name: name, Case: id})
	}
	if count > machine.MaxRelations {
		v.Fail(errs.CodeRange, "a case has at most %d relations", machine.MaxRelations)
	}
	return changes, nil
}

// checkLink refuses a relation to a case that by may not see, and to the case
// itself.
func (e *base) checkLink(r store.Reader, by identity.Principal, v document.Value, to, self int64) error {
	if to == self {
		v.Fail(errs.CodeConflict, "is the case itself")
		return nil
	}
	row, _, err := e.findCase(r, by, Ref{CaseID: to})
	if err == nil && row == nil {
		v.Fail(errs.CodeNotFound, "there is no case %d, or you may not see it", to)
	}
	return err
}

// isRelation reports whether the name is one that expressions can write after
// "links.".
func isRelation(name string) bool {
	const longest = 63
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= longest
}

// links returns the relations of a case as the store has them.
func links(c *machine.Case) []store.CaseLink {
	out := make([]store.CaseLink, len(c.Relations))
	for i, l := range c.Relations {
		out[i] = store.CaseLink{CaseID: c.ID, Relation: l.Name, Target: l.Case}
	}
	return out
}

// mostLinked bounds the cases that a form names as those with relations to its
// own.
const mostLinked = 1000

// showLinked adds to the form of a case which others have relations to it, as far
// as by may see them. The ETag tells, because the form is another then.
func (e *base) showLinked(r store.Reader, by identity.Principal, row *store.Case, res *Resource) error {
	if !row.Linked {
		return nil
	}
	all, err := r.Cases().Linked(row.ID)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	relation, shown := "", 0
	for _, l := range all {
		if shown == mostLinked {
			break
		}
		other, _, err := e.findCase(r, by, Ref{CaseID: l.CaseID})
		if err != nil {
			return err
		}
		if other == nil {
			continue
		}
		if shown++; l.Relation == relation {
			fmt.Fprintf(&out, ", %d", l.CaseID)
			continue
		}
		if relation != "" {
			out.WriteString("],")
		}
		relation = l.Relation
		fmt.Fprintf(&out, "\n    %q: [%d", relation, l.CaseID)
	}
	if shown == 0 {
		return nil
	}
	out.WriteByte(']')
	res.Form = bytes.Replace(res.Form, []byte(`"linkedFrom": {}`), fmt.Appendf(nil, "\"linkedFrom\": {%s\n  }", out.Bytes()), 1)
	res.FormETag = fmt.Sprintf(`%s-%.4x"`, strings.TrimSuffix(res.FormETag, `"`), sha256.Sum256(out.Bytes()))
	return nil
}
