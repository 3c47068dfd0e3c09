package document

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// value makes a node of a value of the library's tree.
func (y *yamlReader) value(node ast.Node, depth int) (*Node, error) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return y.mapping(n.Start, n.Values, n.IsFlowStyle, depth)
	case *ast.MappingValueNode:
		return y.mapping(n.Start, []*ast.MappingValueNode{n}, false, depth)
	case *ast.SequenceNode:
		return y.sequence(n, depth)
	case *ast.AnchorNode:
		return y.anchor(n, depth)
	case *ast.AliasNode:
		return y.alias(n, depth)
	case *ast.TagNode:
		return y.tagged(n, depth)
	case *ast.LiteralNode:
		s := y.node(String, n.Start)
		if n.Value != nil {
			s.Text = n.Value.Value
		}
		return s, nil
	case ast.ScalarNode:
		return y.scalar(n.GetToken())
	}
	return nil, y.failAt(node.GetToken(), "a value should stand here")
}

func (y *yamlReader) node(kind Kind, tk *token.Token) *Node {
	n := &Node{Kind: kind}
	n.Line, n.Column = y.place(tk)
	return n
}

func (y *yamlReader) deeper(depth int, tk *token.Token) error {
	if depth >= MaxDepth {
		return y.failAt(tk, "lists and objects nest deeper than %d", MaxDepth)
	}
	return nil
}

func (y *yamlReader) sequence(n *ast.SequenceNode, depth int) (*Node, error) {
	if err := y.deeper(depth, n.Start); err != nil {
		return nil, err
	}
	list := y.node(List, n.Start)
	for _, v := range n.Values {
		item, err := y.value(v, depth+1)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

// entry is a key of a mapping as it was written: a key of its own with its
// value, or a merge key with what it merges.
type entry struct {
	Member
	merged []*Node // mappings, an earlier one has precedence; nil for a key of its own
}

// mapping makes an object. Keys that a merge key brings stand where it
// stands, unless the mapping has them itself.
func (y *yamlReader) mapping(start *token.Token, values []*ast.MappingValueNode, flow bool, depth int) (*Node, error) {
	if !flow && len(values) > 0 {
		start = keyToken(values[0].Key)
	}
	if err := y.deeper(depth, start); err != nil {
		return nil, err
	}
	object := y.node(Object, start)
	entries := make([]entry, 0, len(values))
	own := make(map[string]bool, len(values))
	merges := false
	for _, v := range values {
		e, err := y.entry(v, depth)
		if err != nil {
			return nil, err
		}
		if e.merged != nil && merges || e.merged == nil && own[e.Key] {
			return nil, y.failAt(keyToken(v.Key), "the key %q stands twice", clip(e.Key))
		}
		merges = merges || e.merged != nil
		own[e.Key] = own[e.Key] || e.merged == nil
		entries = append(entries, e)
	}
	for _, e := range entries {
		if e.merged == nil {
			object.Members = append(object.Members, e.Member)
		}
		for _, other := range e.merged {
			for _, m := range other.Members {
				if !own[m.Key] {
					own[m.Key] = true
					object.Members = append(object.Members, m)
				}
			}
		}
	}
	return object, nil
}

func (y *yamlReader) entry(v *ast.MappingValueNode, depth int) (entry, error) {
	key := ast.Node(v.Key)
	if explicit, ok := key.(*ast.MappingKeyNode); ok {
		key = explicit.Value
	}
	if _, ok := key.(*ast.MergeKeyNode); ok {
		merged, err := y.merged(v.Value, depth)
		return entry{Member: Member{Key: "<<"}, merged: merged}, err
	}
	at := keyToken(v.Key)
	text, err := y.key(key, at)
	if err != nil {
		return entry{}, err
	}
	e := entry{Member: Member{Key: text}}
	e.Line, e.Column = y.place(at)
	e.Value, err = y.value(v.Value, depth+1)
	return e, err
}

// merged returns the mappings that a merge key names: one, or a list.
func (y *yamlReader) merged(value ast.Node, depth int) ([]*Node, error) {
	n, err := y.value(value, depth)
	if err != nil {
		return nil, err
	}
	sources := []*Node{n}
	if n.Kind == List {
		sources = append([]*Node{}, n.Items...)
	}
	for _, source := range sources {
		if source.Kind != Object {
			return nil, y.failAt(value.GetToken(), "a merge key takes an object or a list of objects, not %s", source.Kind)
		}
	}
	return sources, nil
}

// key returns the text of a key. Keys of JSON are strings, so the core
// schema does not come into it: 1 is "1".
func (y *yamlReader) key(node ast.Node, at *token.Token) (string, error) {
	switch n := node.(type) {
	case *ast.AnchorNode:
		text, err := y.key(n.Value, at)
		if err != nil {
			return "", err
		}
		name := n.Name.GetToken().Value
		y.anchors[name] = y.node(String, at)
		y.anchors[name].Text = text
		return text, nil
	case *ast.TagNode:
		if tag := n.Start.Value; tag != tagString && tag != tagPlain {
			return "", y.failAt(n.Start, "the tag %s is not supported on a key", clip(tag))
		}
		return y.key(n.Value, at)
	case *ast.LiteralNode:
		s, err := y.value(n, 0)
		if err != nil {
			return "", err
		}
		return s.Text, nil
	case *ast.AliasNode:
		v, err := y.alias(n, MaxDepth)
		if err != nil {
			return "", err
		}
		if v.Kind == String || v.Kind == Number {
			return v.Text, nil
		}
	case *ast.MergeKeyNode, nil:
	case ast.ScalarNode:
		tk := n.GetToken()
		if tk.Type == token.ImplicitNullType {
			break
		}
		if err := y.checkEscapes(tk); err != nil {
			return "", err
		}
		return tk.Value, nil
	}
	return "", y.failAt(at, "a key must be a text")
}

// keyToken returns the token where a key begins.
func keyToken(key ast.Node) *token.Token {
	switch k := key.(type) {
	case *ast.MappingKeyNode:
		if k.Value != nil {
			return keyToken(k.Value)
		}
	case *ast.AnchorNode:
		return k.Start
	case *ast.TagNode:
		return k.Start
	}
	return key.GetToken()
}

func (y *yamlReader) anchor(n *ast.AnchorNode, depth int) (*Node, error) {
	name := n.Name.GetToken().Value
	outer := y.open[name]
	y.open[name] = true
	v, err := y.value(n.Value, depth)
	y.open[name] = outer
	if err != nil {
		return nil, err
	}
	y.anchors[name] = v
	return v, nil
}

// alias returns a copy of what the alias stands for. Its places are those of
// the anchor, where the text is.
func (y *yamlReader) alias(n *ast.AliasNode, depth int) (*Node, error) {
	name := n.Value.GetToken().Value
	if y.open[name] {
		return nil, y.failAt(n.Start, "the alias *%s stands inside its own anchor", clip(name))
	}
	v, ok := y.anchors[name]
	if !ok {
		return nil, y.failAt(n.Start, "no anchor &%s stands before this alias", clip(name))
	}
	return y.copied(v, depth, n.Start)
}

func (y *yamlReader) copied(n *Node, depth int, alias *token.Token) (_ *Node, err error) {
	if y.expanded++; y.expanded > maxAliasNodes {
		return nil, y.failAt(alias, "aliases stand for more than %d values", maxAliasNodes)
	}
	if n.Kind == List || n.Kind == Object {
		if err = y.deeper(depth, alias); err != nil {
			return nil, err
		}
	}
	out := *n
	out.Items, out.Members = nil, nil
	for _, item := range n.Items {
		c, err := y.copied(item, depth+1, alias)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, c)
	}
	for _, m := range n.Members {
		m.Value, err = y.copied(m.Value, depth+1, alias)
		if err != nil {
			return nil, err
		}
		out.Members = append(out.Members, m)
	}
	return &out, nil
}
