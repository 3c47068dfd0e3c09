package expr

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// MaxPattern is how many instructions a regular expression may have
// (docs/contract/routes.md#expressions).
const MaxPattern = 1000

// PatternSize returns how many instructions a regular expression is compiled
// to, at most, and how many ranges of characters go with them.
func PatternSize(re *syntax.Regexp) (size, ranges int) {
	size = 1
	switch re.Op {
	case syntax.OpLiteral:
		size = len(re.Rune)
	case syntax.OpCharClass:
		ranges = len(re.Rune) / 2
	case syntax.OpCapture:
		size = 2
	default: // one instruction, and those of its parts
	}
	for _, sub := range re.Sub {
		s, r := PatternSize(sub)
		size, ranges = size+s, ranges+r
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Max, re.Min, 1) + 1
	}
	return size, ranges
}

// measurePattern returns the size of a regular expression, or why matches does not
// take it. Nothing is compiled: that alone could take long.
func measurePattern(pattern string) (size int, err error) {
	if len(pattern) > MaxSource {
		return 0, fmt.Errorf("the regular expression is longer than %d bytes", MaxSource)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	if size, _ = PatternSize(parsed); size > MaxPattern {
		return 0, fmt.Errorf("the regular expression has about %d instructions, more than %d: write smaller numbers of repetitions, such as {0,50}", size, MaxPattern)
	}
	return size, nil
}

// pattern is a regular expression that an expression writes out.
type pattern struct {
	*regexp.Regexp
	size int
	err  error // why matches does not take it
}

// matchers does what matches does in one program. CEL has a function of its own for that,
// which compiles the pattern each time, and whose cost is known only when it has
// run. This one refuses in advance what would cost too much.
type matchers struct {
	literal map[string]pattern // only read once the program is made
}

// decorate replaces the calls of matches.
func (m *matchers) decorate(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok || call.Function() != overloads.Matches || len(call.Args()) != 2 {
		return i, nil
	}
	if literal, ok := call.Args()[1].(interpreter.InterpretableConst); ok {
		if source, ok := literal.Value().(types.String); ok {
			m.literal[string(source)] = compilePattern(string(source))
		}
	}
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), m.match), nil
}

func compilePattern(source string) (p pattern) {
	if p.size, p.err = measurePattern(source); p.err == nil {
		p.Regexp, p.err = regexp.Compile(source)
	}
	return p
}

// match reports whether a text has a match of a pattern.
func (m *matchers) match(args ...ref.Val) ref.Val {
	text, source, ok := textAndPattern(args)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	p, known := m.literal[source]
	if !known {
		if p.size, p.err = measurePattern(source); p.err == nil && matchCost(text, p.size, false) <= MaxCost {
			p = compilePattern(source)
		}
	}
	switch {
	case p.err != nil:
		return types.WrapErr(p.err)
	case matchCost(text, p.size, known) > MaxCost:
		return types.NewErr("matches costs too much: the text has %d bytes and the regular expression about %d instructions", len(text), p.size)
	}
	return types.Bool(p.MatchString(text))
}

// price is the cost of a call of matches.
func (m *matchers) price(args []ref.Val, result ref.Val) *uint64 {
	const refused = 300
	if types.IsError(result) {
		return new(uint64(refused))
	}
	text, source, ok := textAndPattern(args)
	if !ok {
		return nil
	}
	p, known := m.literal[source]
	if !known {
		if p.size, p.err = measurePattern(source); p.err != nil {
			return nil
		}
	}
	return new(matchCost(text, p.size, known))
}

func textAndPattern(args []ref.Val) (text, source string, ok bool) {
	if len(args) != 2 {
		return "", "", false
	}
	t, isText := args[0].(types.String)
	s, isSource := args[1].(types.String)
	return string(t), string(s), isText && isSource
}

// instructionsOfUnit is how many instructions a unit of the cost pays, each for one byte of
// the text: as many as take about as long as other things of that cost.
const instructionsOfUnit = 20

// matchCost is what it costs to look for a match. Each byte of the text can take each
// instruction once. A pattern that is not written out is compiled first.
func matchCost(text string, size int, compiled bool) uint64 {
	work := uint64(len(text)+1)*uint64(size)/instructionsOfUnit + 1
	if !compiled {
		work += 300 + 10*uint64(size)
	}
	return work
}
