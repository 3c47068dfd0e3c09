package document

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// yamlReader makes nodes of the library's tree.
type yamlReader struct {
	open     map[*yaml.Node]bool // lists and objects with an anchor, while they are read
	alias    *yaml.Node          // the outermost alias whose value is read
	expanded int                 // values that aliases have stood for
}

// value makes a node of a value of the library's tree. An alias becomes a copy
// of the anchor's value, with the places of the anchor's text.
func (y *yamlReader) value(n *yaml.Node, depth int) (*Node, error) {
	if y.alias != nil {
		if y.expanded++; y.expanded > maxAliasNodes {
			return nil, failAt(y.alias, "aliases stand for more than %d values", maxAliasNodes)
		}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return y.aliased(n, depth)
	case yaml.ScalarNode:
		return scalar(n)
	}
	if depth >= MaxDepth {
		at := n
		if y.alias != nil {
			at = y.alias
		}
		return nil, failAt(at, "%s", tooDeep)
	}
	if n.Anchor != "" {
		y.open[n] = true
		defer delete(y.open, n)
	}
	if n.Kind == yaml.SequenceNode {
		return y.sequence(n, depth)
	}
	return y.mapping(n, depth)
}

func (y *yamlReader) aliased(n *yaml.Node, depth int) (*Node, error) {
	if y.open[n.Alias] {
		return nil, failAt(n, "the alias *%s is inside its own anchor", clip(n.Value))
	}
	if y.alias == nil {
		y.alias = n
		defer func() { y.alias = nil }()
	}
	return y.value(n.Alias, depth)
}

func (y *yamlReader) sequence(n *yaml.Node, depth int) (*Node, error) {
	if err := checkTag(n, tagList); err != nil {
		return nil, err
	}
	list := &Node{Kind: List, Line: n.Line, Column: n.Column}
	for _, content := range n.Content {
		item, err := y.value(content, depth+1)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

// mapping makes an object. Keys from a merge key are added at the place of the
// merge key, unless the mapping has them itself.
func (y *yamlReader) mapping(n *yaml.Node, depth int) (*Node, error) {
	if err := checkTag(n, tagObject); err != nil {
		return nil, err
	}
	object := &Node{Kind: Object, Line: n.Line, Column: n.Column}
	var keys keySet
	var merged []*Node
	merge, mergeAt := false, 0
	for pair := range slices.Chunk(n.Content, 2) {
		at, content := pair[0], pair[1]
		if isMerge(at) {
			if merge {
				return nil, failAt(at, "the key %q appears twice", mergeKey)
			}
			var err error
			if merged, err = y.merged(content, depth); err != nil {
				return nil, err
			}
			merge, mergeAt = true, len(object.Members)
			continue
		}
		key, err := yamlKey(at)
		if err != nil {
			return nil, err
		}
		if !keys.add(object.Members, key) {
			return nil, failAt(at, "the key %q appears twice", clip(key))
		}
		value, err := y.value(content, depth+1)
		if err != nil {
			return nil, err
		}
		object.Members = append(object.Members, Member{Key: key, Value: value, Line: at.Line, Column: at.Column})
	}
	object.Members = slices.Insert(object.Members, mergeAt, added(object.Members, merged)...)
	return object, nil
}

// added returns the members of the merged objects that are not among own. An
// earlier object has precedence.
func added(own []Member, merged []*Node) []Member {
	if len(merged) == 0 {
		return nil
	}
	has := make(map[string]bool, len(own))
	for _, m := range own {
		has[m.Key] = true
	}
	var out []Member
	for _, other := range merged {
		for _, m := range other.Members {
			if !has[m.Key] {
				has[m.Key] = true
				out = append(out, m)
			}
		}
	}
	return out
}

// mergeKey is the key that merges objects into the one it stands in, if it has
// no quotes.
const mergeKey = "<<"

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == mergeKey && key.Style == 0 && key.Tag != tagPlain
}

// merged returns the objects that a merge key names: one, or a list.
func (y *yamlReader) merged(content *yaml.Node, depth int) ([]*Node, error) {
	n, err := y.value(content, depth)
	if err != nil {
		return nil, err
	}
	sources := []*Node{n}
	if n.Kind == List {
		sources = n.Items
	}
	for _, source := range sources {
		if source.Kind != Object {
			return nil, failAt(content, "a merge key takes an object or a list of objects, not %s", source.Kind)
		}
	}
	return sources, nil
}

// yamlKey returns the text of a key. Keys of JSON are strings, so the core
// schema does not come into it: 1 is "1".
func yamlKey(key *yaml.Node) (string, error) {
	text := key
	if key.Kind == yaml.AliasNode {
		text = key.Alias
	}
	absent := text.Value == "" && text.Style == 0
	if text.Kind != yaml.ScalarNode || absent {
		return "", failAt(key, "a key must be a text")
	}
	if text.Style&yaml.TaggedStyle != 0 && text.Tag != tagString {
		return "", failAt(key, "the tag %s is not supported on a key", clip(text.Tag))
	}
	return text.Value, nil
}
