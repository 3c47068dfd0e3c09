package machine

import (
	"fmt"
	"slices"
	"strings"

	"flowdrive/internal/document"
)

// Relation is a relation of a case to another one (docs/contract/drive.md#relations).
type Relation struct {
	Name string `json:"r"`
	Case int64  `json:"c"`
}

// RelationChange sets the case that a relation leads to; 0 removes the relation.
type RelationChange = Relation

// MaxRelations is how many relations a case can have.
const MaxRelations = 100

// Related returns the case that the relation leads to, 0 for none.
func (c *Case) Related(relation string) int64 {
	for _, l := range c.Relations {
		if l.Name == relation {
			return l.Case
		}
	}
	return 0
}

// relate changes relations of the case. It returns the texts for the log, one a
// change.
func (d *caseDecision) relate(changes []RelationChange) (texts []string) {
	for _, ch := range changes {
		if d.c.Related(ch.Name) == ch.Case {
			continue
		}
		i, found := slices.BinarySearchFunc(d.c.Relations, ch.Name, func(l Relation, name string) int { return strings.Compare(l.Name, name) })
		list := slices.Clone(d.c.Relations)
		switch {
		case ch.Case == 0:
			list = slices.Delete(list, i, i+1)
			texts = append(texts, fmt.Sprintf("Removed the relation %s to case %d", ch.Name, d.c.Relations[i].Case))
		case found:
			list[i] = ch
		default:
			list = slices.Insert(list, i, ch)
		}
		if ch.Case != 0 {
			texts = append(texts, textRelated(ch))
		}
		d.c.Relations, d.changed = list, true
	}
	return texts
}

// textRelated is what the log says of a relation that was set.
func textRelated(l Relation) string {
	return fmt.Sprintf("Set the relation %s to case %d", l.Name, l.Case)
}

// appendRelations appends the relations as an object.
func appendRelations(b []byte, key string, list []Relation) []byte {
	b = append(append(b, key...), '{')
	for i, l := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(document.AppendString(b, l.Name), ':')
		b = fmt.Append(b, l.Case)
	}
	return append(b, '}')
}
