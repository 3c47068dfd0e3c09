package route

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"flowdrive/internal/document"
)

// What validating takes is counted in ticks of about 2.5 ns, saturating; step
// ticks are one schema that is applied to one value, with the error that it
// may yield. Everything that a schema may do is counted, whether or not the
// validator comes to it.
const (
	step          = 1024
	tickOfEntry   = 128  // of enum, required and the like
	tickOfMember  = 32   // for going over a member of an object
	tickOfByte    = 1    // for a rule about a text
	tickOfRegex   = 4    // for an instruction of a regular expression, a byte
	tickOfPattern = 1000 // for parsing a byte as a regular expression
	endless       = 1 << 50
)

// The bounds of validating. A form whose schemas cost more for a single value
// is refused (docs/contract/routes.md#limits-of-forms); what is sent is not
// validated if that may cost more.
const (
	maxFormCost       = 10_000 * step
	maxValidationCost = 50_000 * step
)

func plus(a, b uint64) uint64 { return min(a+b, endless) }

func times(a, b uint64) uint64 {
	if b != 0 && a > endless/b {
		return endless
	}
	return min(a*b, endless)
}

// ticks is what a schema costs: by itself, and for every byte of the value.
type ticks struct{ fixed, perByte uint64 }

func (t ticks) plus(u ticks) ticks {
	return ticks{plus(t.fixed, u.fixed), plus(t.perByte, u.perByte)}
}

func (t ticks) times(n uint64) ticks { return ticks{times(t.fixed, n), times(t.perByte, n)} }

func higher(t, u ticks) ticks { return ticks{max(t.fixed, u.fixed), max(t.perByte, u.perByte)} }

// formCost is the cost of validating an object of scalars.
type formCost struct {
	object  uint64 // independent of its members
	member  ticks  // for each member
	entries []listedCost
}

// listedCost is what the members that a schema lists by name cost: all
// together, and the dearest.
type listedCost struct {
	all  uint64
	most ticks
}

// of returns the cost for an object with that many members and bytes. The bytes
// include those of the keys.
func (c *formCost) of(members, bytes int) uint64 {
	n, b := uint64(max(members, 0)), uint64(max(bytes, 0))
	cost := plus(c.object, plus(times(c.member.fixed, n), times(c.member.perByte, b)))
	for _, e := range c.entries {
		cost = plus(cost, plus(min(e.all, times(e.most.fixed, n)), times(e.most.perByte, b)))
	}
	return cost
}

// formGraph is a compiled form with what its schemas apply.
type formGraph struct {
	root  *jsonschema.Schema
	all   []*jsonschema.Schema // each after those that it applies to the same value
	edges map[*jsonschema.Schema]*formEdges

	named   map[string][]*jsonschema.Schema // by their dynamic anchor
	entered []*jsonschema.Schema            // with which validating of a value may begin
	uneval  bool                            // members are followed for the sake of unevaluatedProperties
}

// formEdges is what one schema applies to the value, and to what is in it. Of
// alternatives one is applied.
type formEdges struct {
	same [][]*jsonschema.Schema

	listed   []*jsonschema.Schema // to members by name: one
	patterns []*jsonschema.Schema // to members by pattern
	rest     []*jsonschema.Schema // to members that neither of those is for: one
	names    []*jsonschema.Schema // to the names of members

	places   []*jsonschema.Schema // to items by place: one
	contains []*jsonschema.Schema // to every item
}

// inside returns what the schema applies to something in the value.
func (e *formEdges) inside() []*jsonschema.Schema {
	return slices.Concat(e.listed, e.patterns, e.rest, e.names, e.places, e.contains)
}

// newFormGraph reads a compiled form. anchored are its schemas with a dynamic
// anchor, even if nothing refers to them.
func newFormGraph(root *jsonschema.Schema, anchored []*jsonschema.Schema) *formGraph {
	g := &formGraph{root: root, edges: map[*jsonschema.Schema]*formEdges{}, named: map[string][]*jsonschema.Schema{}, entered: []*jsonschema.Schema{root}}
	g.discover(append([]*jsonschema.Schema{root}, anchored...))
	for _, s := range g.all {
		g.resolve(s)
	}
	return g
}

// discover finds all schemas, in any order.
func (g *formGraph) discover(pending []*jsonschema.Schema) {
	for len(pending) > 0 {
		s := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if s == nil || g.edges[s] != nil {
			continue
		}
		e := staticEdges(s)
		g.edges[s] = e
		g.all = append(g.all, s)
		if s.DynamicAnchor != "" {
			g.named[s.DynamicAnchor] = append(g.named[s.DynamicAnchor], s)
		}
		if s.PropertyNames != nil {
			g.entered = append(g.entered, s.PropertyNames)
		}
		g.uneval = g.uneval || s.UnevaluatedProperties != nil
		pending = append(pending, slices.Concat(e.same...)...)
		pending = append(pending, e.inside()...)
		if s.DynamicRef != nil {
			pending = append(pending, s.DynamicRef.Ref)
		}
		pending = append(pending, s.RecursiveRef)
	}
}

// staticEdges returns what a schema applies without looking at who applied it.
func staticEdges(s *jsonschema.Schema) *formEdges {
	e := &formEdges{}
	dependencies := appendSchemas(nil, slices.Collect(maps.Values(s.Dependencies))...)
	slices.SortFunc(dependencies, byLocation)
	single := []*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else, s.ContentSchema}
	for _, one := range slices.Concat(single, s.AllOf, s.AnyOf, s.OneOf, values(s.DependentSchemas), dependencies) {
		if one != nil {
			e.same = append(e.same, []*jsonschema.Schema{one})
		}
	}
	e.listed = values(s.Properties)
	e.patterns = values(s.PatternProperties)
	e.rest = appendSchemas(nil, s.AdditionalProperties, s.UnevaluatedProperties)
	e.names = appendSchemas(nil, s.PropertyNames)
	e.places = appendSchemas(slices.Clone(s.PrefixItems), s.Items, s.AdditionalItems, s.Items2020, s.UnevaluatedItems)
	if list, ok := s.Items.([]*jsonschema.Schema); ok {
		e.places = append(e.places, list...)
	}
	e.contains = appendSchemas(nil, s.Contains)
	return e
}

// values returns the schemas of a map in an order that does not change.
func values[K comparable](m map[K]*jsonschema.Schema) []*jsonschema.Schema {
	return slices.SortedFunc(maps.Values(m), byLocation)
}

func byLocation(a, b *jsonschema.Schema) int { return strings.Compare(a.Location, b.Location) }

// appendSchemas appends the values that are schemas.
func appendSchemas(list []*jsonschema.Schema, more ...any) []*jsonschema.Schema {
	for _, v := range more {
		if s, ok := v.(*jsonschema.Schema); ok && s != nil {
			list = append(list, s)
		}
	}
	return list
}

// resolve adds what a schema may refer to depending on who applied it.
func (g *formGraph) resolve(s *jsonschema.Schema) {
	e := g.edges[s]
	if d := s.DynamicRef; d != nil {
		targets := []*jsonschema.Schema{d.Ref}
		if d.Anchor != "" && d.Ref.DynamicAnchor == d.Anchor {
			targets = g.named[d.Anchor]
		}
		e.same = append(e.same, targets)
	}
	switch r := s.RecursiveRef; {
	case r == nil:
	case !r.RecursiveAnchor:
		e.same = append(e.same, []*jsonschema.Schema{r})
	case g.root.RecursiveAnchor:
		e.same = append(e.same, append([]*jsonschema.Schema{r}, g.entered...))
	default: // it may lead into any schema of a document within the form
		e.same = append(e.same, g.all)
	}
}

// tooCostly says why a form is refused, and which part of it.
type tooCostly struct {
	at     *jsonschema.Schema
	detail string
}

// order sorts the schemas by what they apply to the same value. A schema that
// comes back to itself without going into the value is an error.
func (g *formGraph) order() *tooCostly {
	const begun, done = 1, 2
	state := make(map[*jsonschema.Schema]int, len(g.all))
	found := g.all
	g.all = make([]*jsonschema.Schema, 0, len(found))
	var circle *jsonschema.Schema
	var visit func(s *jsonschema.Schema)
	visit = func(s *jsonschema.Schema) {
		state[s] = begun
		for _, alternatives := range g.edges[s].same {
			for _, next := range alternatives {
				switch {
				case circle != nil:
					return
				case state[next] == begun:
					circle = next
				case state[next] == 0:
					visit(next)
				}
			}
		}
		state[s] = done
		g.all = append(g.all, s)
	}
	for _, s := range found {
		if state[s] == 0 && circle == nil {
			visit(s)
		}
	}
	if circle != nil {
		return &tooCostly{circle, "refers to itself for the same value, so that validating would not end; refer to it from properties or items"}
	}
	return nil
}

// costs returns what each schema costs for one value, if what is in it costs
// what inner says. The value has one member or item.
func (g *formGraph) costs(inner map[*jsonschema.Schema]ticks) map[*jsonschema.Schema]ticks {
	most := func(list []*jsonschema.Schema) (t ticks) {
		for _, s := range list {
			t = higher(t, inner[s])
		}
		return t
	}
	sum := func(list []*jsonschema.Schema) (t ticks) {
		for _, s := range list {
			t = t.plus(inner[s])
		}
		return t
	}
	out := make(map[*jsonschema.Schema]ticks, len(g.all))
	for _, s := range g.all {
		e, cost := g.edges[s], ownCost(s)
		for _, alternatives := range e.same {
			var dearest ticks
			for _, one := range alternatives {
				dearest = higher(dearest, out[one])
			}
			cost = cost.plus(dearest)
		}
		member := higher(most(e.listed).plus(sum(e.patterns)), most(e.rest)).plus(sum(e.names))
		item := most(e.places).plus(sum(e.contains))
		out[s] = cost.plus(higher(member, item))
	}
	return out
}

// check returns why validating a single value of any depth may take too long,
// or nil.
func (g *formGraph) check() *tooCostly {
	var cost map[*jsonschema.Schema]ticks
	for range document.MaxDepth {
		deeper := g.costs(cost)
		if maps.Equal(cost, deeper) {
			break
		}
		cost = deeper
		for _, s := range g.all { // those that others apply come first
			if cost[s].fixed > maxFormCost {
				return &tooCostly{s, fmt.Sprintf("takes more than %d steps for one value, since references are followed each time; refer to fewer schemas, or to each less often", maxFormCost/step)}
			}
		}
	}
	return nil
}

// objectCost returns the cost of validating an object of scalars.
func (g *formGraph) objectCost() formCost {
	scalar := g.costs(nil)
	often := map[*jsonschema.Schema]uint64{g.root: 1}
	var c formCost
	for _, s := range slices.Backward(g.all) {
		n, e := often[s], g.edges[s]
		if n == 0 {
			continue
		}
		for _, one := range slices.Concat(e.same...) {
			often[one] = plus(often[one], n)
		}
		member := ticks{fixed: tickOfMember}
		if g.uneval {
			member.fixed += tickOfMember
		}
		for _, one := range slices.Concat(e.patterns, e.rest, e.names) {
			member = member.plus(scalar[one])
		}
		for re := range s.PatternProperties {
			member.perByte = plus(member.perByte, regexTicks(re))
		}
		c.object = plus(c.object, times(ownCost(s).fixed, n))
		c.member = c.member.plus(member.times(n))
		if len(e.listed) == 0 {
			continue
		}
		var listed listedCost
		for _, one := range e.listed {
			listed.all = plus(listed.all, times(scalar[one].fixed, n))
			listed.most = higher(listed.most, scalar[one].times(n))
		}
		c.entries = append(c.entries, listed)
	}
	return c
}

// ownCost returns what a schema costs without those that it applies.
func ownCost(s *jsonschema.Schema) ticks {
	entries := len(s.Required)
	if s.Enum != nil {
		for _, v := range s.Enum.Values {
			entries += entriesOf(v)
		}
	}
	if s.Const != nil {
		entries += entriesOf(*s.Const)
	}
	for _, list := range s.DependentRequired {
		entries += 1 + len(list)
	}
	for _, dependency := range s.Dependencies {
		list, _ := dependency.([]string)
		entries += 1 + len(list)
	}
	entries += len(s.DependentSchemas)
	t := ticks{fixed: plus(step, times(tickOfEntry, uint64(entries)))}
	for _, bound := range []bool{s.Minimum != nil, s.Maximum != nil, s.ExclusiveMinimum != nil, s.ExclusiveMaximum != nil, s.MultipleOf != nil, s.Types != nil} {
		if bound {
			t.fixed += tickOfEntry
		}
	}
	if s.Format != nil {
		t.perByte += tickOfByte
		if s.Format.Name == "regex" {
			t.perByte += tickOfPattern
		}
	}
	if s.MinLength != nil || s.MaxLength != nil || s.Enum != nil || s.Const != nil {
		t.perByte += tickOfByte
	}
	if s.Pattern != nil {
		t.perByte = plus(t.perByte, regexTicks(s.Pattern))
	}
	return t
}

// entriesOf counts the values that a comparison with v may look at.
func entriesOf(v any) int {
	count := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			count += entriesOf(item)
		}
	case map[string]any:
		for _, member := range v {
			count += entriesOf(member)
		}
	}
	return count
}

// regexTicks returns what matching a byte costs.
func regexTicks(re jsonschema.Regexp) uint64 {
	p, ok := re.(*pattern)
	if !ok {
		return tickOfPattern // of a schema that is not the author's
	}
	return plus(tickOfByte, times(tickOfRegex, p.size))
}
