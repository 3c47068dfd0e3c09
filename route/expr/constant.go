package expr

import (
	"strconv"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"

	"flowdrive/internal/errs"
)

// variables are the variables of the language.
func variables() []string {
	return []string{"case", "xattr", "links", "input", "message", "actor", "now", "timers", "tasks", "children", "tally", "error"}
}

// Constant is what an expression yields whatever the values are.
type Constant int

// What a constant expression yields.
const (
	Varies Constant = iota
	AlwaysTrue
	AlwaysFalse
	AlwaysFails
)

// constant evaluates an expression without any value: what comes of it all the same comes
// of it always. why says why it always fails.
func constant(checked *cel.Ast) (c Constant, why string) {
	m := &matchers{literal: map[string]pattern{}}
	program, err := environment().Program(checked, cel.EvalOptions(cel.OptPartialEval), cel.CostTracking(m), cel.CostLimit(MaxCost),
		cel.CustomDecoratorV2(m.decorate), cel.CustomDecoratorV2(affordable))
	if err != nil {
		return Varies, ""
	}
	names := variables()
	unknown := make([]*cel.AttributePatternType, len(names))
	for i, name := range names {
		unknown[i] = cel.AttributePattern(name)
	}
	vars, err := cel.PartialVars(map[string]any{}, unknown...)
	if err != nil {
		return Varies, ""
	}
	switch out, _, err := program.Eval(vars); {
	case err != nil:
		return AlwaysFails, legible(err.Error())
	case out == types.True:
		return AlwaysTrue, ""
	case out == types.False:
		return AlwaysFalse, ""
	}
	return Varies, ""
}

// Reading is a declared XATTR that an expression reads as an instant or a length of time.
type Reading struct {
	Use

	Function string // timestamp or duration
}

// Fails reports whether the function cannot read the text.
func (r Reading) Fails(text string) bool {
	to := types.TimestampType
	if r.Function == overloads.TypeConvertDuration {
		to = types.DurationType
	}
	return types.IsError(types.String(text).ConvertToType(to))
}

// Hint says how a text is written that the function cannot read.
func (r Reading) Hint(text string) string {
	if r.Function == overloads.TypeConvertDuration {
		return `; a length of time is written in hours, minutes and seconds, as in duration("72h") or duration("1h30m")`
	}
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		return "; an instant has a time and a zone: write timestamp(" + strconv.Quote(text+"T00:00:00Z") + ")"
	}
	return `; an instant is written as in timestamp("2026-12-24T08:00:00Z")`
}

// reading notes an XATTR that is read as it is, and a text that cannot be read.
func (v *useVisitor) reading(e ast.Expr) {
	if e.Kind() != ast.CallKind {
		return
	}
	call := e.AsCall()
	function := call.FunctionName()
	if function != overloads.TypeConvertTimestamp && function != overloads.TypeConvertDuration || len(call.Args()) != 1 {
		return
	}
	line, column := place(v.tree, e)
	r := Reading{Use{Line: line, Column: column}, function}
	switch arg := call.Args()[0]; arg.Kind() {
	case ast.LiteralKind:
		if text, is := arg.AsLiteral().(types.String); is && r.Fails(string(text)) {
			v.uses.Unread = append(v.uses.Unread, Fault{line, column, function + " cannot read " + strconv.Quote(errs.Clip(string(text), 60)) + r.Hint(string(text))})
		}
	default:
		if key, ok := xattrOf(arg); ok {
			r.Name = key
			v.uses.Readings = append(v.uses.Readings, r)
		}
	}
}
