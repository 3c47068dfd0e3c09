// Package expr compiles and evaluates the expressions of routes, which are CEL
// (docs/contract/routes.md#expressions). A compiled Program is immutable. Its
// result depends only on the given values, not on the order in which Go visits
// a map. An evaluation fails with an error and never panics.
package expr

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"flowdrive/internal/document"
)

// Limits of expressions (docs/contract/routes.md#expressions). The cost is
// CEL's own measure of the work that an evaluation does.
const (
	MaxSource = 2048 // bytes
	MaxCost   = 10_000
	ChildCost = 100 // added for each child, if an expression uses children
)

// Want is what an expression is to yield.
type Want int

// What an expression can be wanted for.
const (
	Truth  Want = iota // true or false: a guard
	Text               // a string: the output of a decision
	Scalar             // a string, number, boolean or null: an XATTR, a text
	Any                // any value of JSON: a message
)

// Names are the names that an expression may use as keys of tasks and timers.
type Names struct {
	Actions  []string
	Timers   []string
	Children bool // it is asked about the children of an action, and may use children and tally
	Stored   bool // the route was stored, perhaps by a release that took larger patterns: those fail when they are evaluated
}

// Fault is what is wrong with an expression, and its place in the text. Line
// and Column count from 1.
type Fault struct {
	Line   int
	Column int
	Detail string
}

// String returns the fault with its place.
func (f Fault) String() string { return fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.Detail) }

// Program is an expression that was found right.
type Program struct {
	source   string
	program  cel.Program
	want     Want
	literals []string
	tally    bool
	patterns int
	xattrs   []string
	checked  *cel.Ast // if it uses children, whose number decides its limit
}

// Source returns the text of the expression.
func (p *Program) Source() string { return p.source }

// Literals returns the texts that are written out as results of the expression:
// the expression itself if it is a text, and the branches of its conditions.
func (p *Program) Literals() []string { return p.literals }

// Xattrs returns the keys of XATTRs that the expression writes out, each once, in the
// order of the text.
func (p *Program) Xattrs() []string { return p.xattrs }

// UsesTally reports whether the expression asks for the tally of children.
func (p *Program) UsesTally() bool { return p.tally }

// UsesChildren reports whether the expression looks at single children.
func (p *Program) UsesChildren() bool { return p.checked != nil }

// Patterns returns how many instructions the regular expressions have that the
// expression writes out.
func (p *Program) Patterns() int {
	if p == nil {
		return 0
	}
	return p.patterns
}

// environment is the language with its variables. Making it takes a
// millisecond, so there is one. That it can be made is our own affair.
var environment = sync.OnceValue(func() *cel.Env {
	registry, err := types.NewRegistry()
	if err != nil {
		panic("expr: the types cannot be registered: " + err.Error())
	}
	env, err := cel.NewEnv(
		cel.CustomTypeProvider(provider{registry}),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		cel.ParserRecursionLimit(50),
		cel.Variable("case", caseKind.Type),
		cel.Variable("xattr", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("links", cel.MapType(cel.StringType, cel.IntType)),
		cel.Variable("input", cel.DynType),
		cel.Variable("message", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("actor", cel.StringType),
		cel.Variable("now", cel.TimestampType),
		cel.Variable("timers", cel.MapType(cel.StringType, timerKind.Type)),
		cel.Variable("tasks", cel.MapType(cel.StringType, taskKind.Type)),
		cel.Variable("children", cel.ListType(childKind.Type)),
		cel.Variable("tally", tallyKind.Type),
		cel.Variable("error", errorKind.Type),
	)
	if err != nil {
		panic("expr: the environment cannot be made: " + err.Error())
	}
	// With its first unknown name cel-go fills a table that other goroutines
	// read without a lock: it is filled before there are any.
	env.Compile("unknown")
	return env
})

// Compile checks an expression and makes a program of it, or returns what is
// wrong with it.
func Compile(source string, want Want, names Names) (*Program, []Fault) {
	if len(source) > MaxSource {
		return nil, []Fault{{1, 1, fmt.Sprintf("must not be longer than %d bytes", MaxSource)}}
	}
	if strings.TrimSpace(source) == "" {
		return nil, []Fault{{1, 1, "must not be empty"}}
	}
	env := environment()
	checked, issues := env.Compile(source)
	if issues.Err() != nil {
		return nil, faultsOf(issues, source)
	}
	if fault := yields(checked, want); fault != "" {
		return nil, []Fault{{1, 1, fault}}
	}
	tree := checked.NativeRep()
	u := usage{tree: tree, names: names}
	ast.PostOrderVisit(ast.NavigateAST(tree), ast.NewExprVisitor(u.visit))
	if len(u.faults) > 0 {
		return nil, u.faults
	}
	// There is no context that could interrupt it. The cost limits an
	// evaluation.
	program, err := limited(checked, MaxCost)
	if err != nil {
		return nil, []Fault{{1, 1, err.Error()}}
	}
	p := &Program{source: source, program: program, want: want, literals: literals(tree.Expr()), tally: u.tally, patterns: u.patterns, xattrs: u.xattrs}
	if u.children {
		p.checked = checked
	}
	return p, nil
}

// limited makes a program that must not cost more.
func limited(checked *cel.Ast, cost uint64) (cel.Program, error) {
	m := &matchers{literal: map[string]pattern{}}
	return environment().Program(checked, cel.CostTracking(m), cel.CostLimit(cost),
		cel.CustomDecoratorV2(ordered), cel.CustomDecoratorV2(m.decorate), cel.CustomDecoratorV2(affordable))
}

func faultsOf(issues *cel.Issues, source string) []Fault {
	const most = 10
	var out []Fault
	for _, e := range issues.Errors() {
		f := Fault{Line: max(e.Location.Line(), 1), Column: max(e.Location.Column()+1, 1), Detail: strings.TrimPrefix(e.Message, "Syntax error: ")}
		f.Detail, _, _ = strings.Cut(f.Detail, "\n")
		f.Detail += inOtherLanguages(f.Detail, source)
		if len(out) < most && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// wordNot matches what other languages write for !.
var wordNot = regexp.MustCompile(`(?i)(^|[\s(&|])not\s`)

// inOtherLanguages says how CEL writes what other languages write otherwise. It
// returns "" if the fault is another one.
func inOtherLanguages(fault, source string) string {
	if name, _, is := strings.Cut(strings.TrimPrefix(fault, "undeclared reference to '"), "'"); is && slices.Contains(variables(), name) {
		return "; it is a variable: write " + name + ", without parentheses"
	}
	if strings.HasPrefix(fault, "invalid argument to has() macro") {
		return "; has asks for a field, as in has(xattr.amount)"
	}
	if strings.Contains(fault, "expecting <EOF>") && wordNot.MatchString(source) {
		return "; write ! for not, as in !has(xattr.amount)"
	}
	for _, sign := range [][2]string{{"'and'", "&&"}, {"'or'", "||"}} {
		if strings.Contains(fault, "input "+sign[0]) {
			return "; write " + sign[1]
		}
	}
	if strings.HasPrefix(fault, "token recognition error at: '= ") {
		return "; write == to compare"
	}
	return ""
}

// yields says why the type of an expression is not what is wanted. It returns
// "" if it is, or if only an evaluation can tell.
func yields(checked *cel.Ast, want Want) string {
	kind := checked.OutputType().Kind()
	fits := kind == types.DynKind || kind == types.AnyKind || kind == types.TypeParamKind
	switch want {
	case Truth:
		if !fits && kind != types.BoolKind {
			return fmt.Sprintf("must be true or false, not of type %s", checked.OutputType())
		}
	case Text:
		if !fits && kind != types.StringKind {
			return fmt.Sprintf("must be a string, not of type %s", checked.OutputType())
		}
	case Scalar:
		switch kind {
		case types.BoolKind, types.StringKind, types.IntKind, types.UintKind, types.DoubleKind, types.NullTypeKind, types.TimestampKind, types.DurationKind:
			fits = true
		}
		if !fits {
			return fmt.Sprintf("must be a string, a number, a boolean or null, not of type %s", checked.OutputType())
		}
	case Any:
	}
	return ""
}

// usage judges what an expression uses of its variables.
type usage struct {
	tree            *ast.AST
	names           Names
	faults          []Fault
	tally, children bool
	patterns        int // instructions of those that are written out
	xattrs          []string
}

func (u *usage) visit(e ast.Expr) {
	if e.Kind() == ast.CallKind {
		u.pattern(e.AsCall())
	}
	if e.Kind() != ast.IdentKind {
		return
	}
	nav, ok := e.(ast.NavigableExpr)
	if !ok {
		return
	}
	parent, has := nav.Parent()
	switch e.AsIdent() {
	case "xattr":
		if !has {
			return
		}
		if key, literal := keyOf(parent, e); literal && !slices.Contains(u.xattrs, key) {
			u.xattrs = append(u.xattrs, key)
		}
	case "message":
		if !has || !isKeyed(parent, e) {
			u.fault(e, `can only be looked up by a label, as in message["answer"]`)
		}
	case "tasks":
		u.known(parent, has, e, "an action", u.names.Actions)
	case "children", "tally":
		if !u.names.Children {
			u.fault(e, "is available only in decide and complete of an action with children")
		}
		u.children = u.children || e.AsIdent() == "children"
		u.tally = u.tally || e.AsIdent() == "tally"
	case "timers":
		u.known(parent, has, e, "a timer", u.names.Timers)
	}
}

// pattern notes a regular expression that is written out and that matches does not take.
func (u *usage) pattern(call ast.CallExpr) {
	args := call.Args()
	if u.names.Stored || call.FunctionName() != overloads.Matches || len(args) == 0 || args[len(args)-1].Kind() != ast.LiteralKind {
		return
	}
	last := args[len(args)-1]
	if source, ok := last.AsLiteral().(types.String); ok {
		p := compilePattern(string(source))
		if u.patterns += p.size; p.err != nil {
			u.fault(last, p.err.Error())
		}
	}
}

// known notes a key that stands for nothing.
func (u *usage) known(parent ast.NavigableExpr, has bool, e ast.Expr, what string, names []string) {
	if !has {
		return
	}
	if key, literal := keyOf(parent, e); literal && !slices.Contains(names, key) {
		u.fault(parent, fmt.Sprintf("%q is not %s of this route%s", key, what, document.Hint(key, names)))
	}
}

func (u *usage) fault(e ast.Expr, detail string) {
	at := u.tree.SourceInfo().GetStartLocation(e.ID())
	u.faults = append(u.faults, Fault{Line: max(at.Line(), 1), Column: max(at.Column()+1, 1), Detail: detail})
}

// isKeyed reports whether the parent asks the map for one key.
func isKeyed(parent ast.Expr, of ast.Expr) bool {
	switch parent.Kind() {
	case ast.SelectKind:
		return true
	case ast.CallKind:
		call := parent.AsCall()
		args := call.Args()
		switch call.FunctionName() {
		case operators.Index:
			return len(args) == 2 && args[0].ID() == of.ID()
		case operators.In:
			return len(args) == 2 && args[1].ID() == of.ID()
		}
	}
	return false
}

// keyOf returns the key that the parent looks up in the map, if the key is
// written out.
func keyOf(parent ast.Expr, of ast.Expr) (string, bool) {
	if parent.Kind() == ast.SelectKind {
		return parent.AsSelect().FieldName(), true
	}
	if !isKeyed(parent, of) {
		return "", false
	}
	for _, arg := range parent.AsCall().Args() {
		if arg.Kind() == ast.LiteralKind {
			key, ok := arg.AsLiteral().(types.String)
			return string(key), ok
		}
	}
	return "", false
}

// literals returns the texts that are written out as results of the expression.
func literals(e ast.Expr) []string {
	switch e.Kind() {
	case ast.LiteralKind:
		if s, ok := e.AsLiteral().(types.String); ok {
			return []string{string(s)}
		}
	case ast.CallKind:
		if call := e.AsCall(); call.FunctionName() == operators.Conditional && len(call.Args()) == 3 {
			return append(literals(call.Args()[1]), literals(call.Args()[2])...)
		}
	}
	return nil
}

// eval evaluates the program over the values.
func (p *Program) eval(v *Values) (ref.Val, error) {
	if v.Budget > 0 && v.Cost >= v.Budget {
		return nil, errors.New("the expressions cost too much, taken together")
	}
	program, limit := p.program, uint64(MaxCost)
	if p.checked != nil && v.Children != nil {
		var err error
		limit += ChildCost * uint64(len(v.Children.List))
		if program, err = limited(p.checked, limit); err != nil {
			return nil, err
		}
	}
	v.unread = v.unread[:0]
	out, details, err := program.Eval(&activation{values: v})
	const least = 10 // what an evaluation costs that does nothing
	if v.Cost += least; details != nil && details.ActualCost() != nil {
		v.Cost += *details.ActualCost() * MaxCost / limit // the additional cost of children is not counted
	}
	if err != nil {
		return nil, v.explained(err)
	}
	if out == nil || types.IsUnknownOrError(out) {
		return nil, errors.New("yields nothing")
	}
	return out, nil
}

// Truth evaluates an expression that yields true or false. It fails if the
// evaluation fails or costs too much, or if the result has another type.
func (p *Program) Truth(v *Values) (bool, error) {
	out, err := p.eval(v)
	if err != nil {
		return false, err
	}
	b, ok := out.(types.Bool)
	if !ok {
		return false, fmt.Errorf("must be true or false, not of type %s", out.Type().TypeName())
	}
	return bool(b), nil
}

// Text evaluates an expression that yields a string. It fails if the evaluation
// fails or costs too much, or if the result has another type.
func (p *Program) Text(v *Values) (string, error) {
	out, err := p.eval(v)
	if err != nil {
		return "", err
	}
	s, ok := out.(types.String)
	if !ok {
		return "", fmt.Errorf("must be a string, not of type %s", out.Type().TypeName())
	}
	return string(s), nil
}
