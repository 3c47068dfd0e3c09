package expr

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"flowdrive/internal/document"
)

// checkTypes checks the expression with the declared types of XATTRs: each that is
// written out becomes a variable of its type.
func (i *Inspector) checkTypes(source string, want Want, u *Uses) {
	if i.whole == nil {
		i.whole, i.fraction = i.typed(cel.IntType), i.typed(cel.DoubleType)
	}
	checked, whole := i.misfits(i.whole, source)
	_, fraction := i.misfits(i.fraction, source)
	for _, w := range whole {
		j := slices.IndexFunc(fraction, func(f misfit) bool { return f.expr == w.expr })
		if j >= 0 {
			u.Misfits = append(u.Misfits, Fault{w.line, w.column, w.never()})
		} else if w.calculates() {
			u.Misfits = append(u.Misfits, Fault{w.line, w.column, w.notWhole()})
		}
	}
	if checked == nil {
		return
	}
	u.Yields = kindOf(checked.OutputType())
	if fault := yields(checked, want); fault != "" {
		u.Misfits = append(u.Misfits, Fault{1, 1, legible(fault) + ": so the route declares the XATTR"})
	}
}

// typed returns the environment in which declared XATTRs are variables of their
// types, numbers of the given one.
func (i *Inspector) typed(number *cel.Type) *cel.Env {
	var variables []cel.EnvOption
	for n, d := range i.declared {
		of := number
		switch d.Kind {
		case document.String:
			of = cel.StringType
		case document.Bool:
			of = cel.BoolType
		default:
		}
		variables = append(variables, cel.Variable(variable(n), of))
	}
	env, err := environment().Extend(variables...)
	if err != nil {
		panic("expr: the environment of a route cannot be made: " + err.Error())
	}
	return env
}

// variable returns the name of the variable of the nth declared XATTR. No
// expression can use it by itself.
func variable(n int) string { return "@" + strconv.Itoa(n) }

// misfit is a part of an expression for which the types of XATTRs are not fit.
type misfit struct {
	expr         int64 // the part's id
	line, column int
	message      string // of CEL
	keys         []string
}

// misfits checks an expression in an environment that typed has made. checked is
// nil if there are misfits.
func (i *Inspector) misfits(env *cel.Env, source string) (checked *cel.Ast, found []misfit) {
	parsed, issues := env.Parse(source)
	if issues.Err() != nil {
		return nil, nil
	}
	tree := parsed.NativeRep()
	factory := ast.NewExprFactory()
	parts := map[int64]ast.Expr{}
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if key, ok := xattrOf(e); ok {
			if n := slices.IndexFunc(i.declared, func(d Declared) bool { return d.Key == key }); n >= 0 {
				e.SetKindCase(factory.NewIdent(e.ID(), variable(n)))
			}
		}
		parts[e.ID()] = e
	}))
	checked, issues = env.Check(parsed)
	if issues.Err() == nil {
		return checked, nil
	}
	for _, e := range issues.Errors() {
		m := misfit{expr: e.ExprID, line: max(e.Location.Line(), 1), column: max(e.Location.Column()+1, 1), message: e.Message}
		m.message, _, _ = strings.Cut(m.message, "\n")
		if part := parts[e.ExprID]; part != nil {
			m.keys = i.keysIn(part)
		}
		function, _ := m.call()
		if len(m.keys) > 0 && function != operators.Conditional {
			found = append(found, m)
		}
	}
	slices.SortStableFunc(found, func(a, b misfit) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column)) })
	return nil, found
}

// xattrOf returns the key of the XATTR whose value the part of an expression asks
// for, if the key is written out.
func xattrOf(e ast.Expr) (key string, ok bool) {
	isXattr := func(of ast.Expr) bool { return of.Kind() == ast.IdentKind && of.AsIdent() == "xattr" }
	switch e.Kind() {
	case ast.SelectKind:
		s := e.AsSelect()
		return s.FieldName(), isXattr(s.Operand()) && !s.IsTestOnly()
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() != operators.Index || len(call.Args()) != 2 || !isXattr(call.Args()[0]) || call.Args()[1].Kind() != ast.LiteralKind {
			return "", false
		}
		key, ok := call.Args()[1].AsLiteral().(types.String)
		return string(key), ok
	}
	return "", false
}

// keysIn returns the keys of the declared XATTRs that the part uses: of its own
// operands if there are some, else anywhere in it.
func (i *Inspector) keysIn(part ast.Expr) (keys []string) {
	note := func(e ast.Expr) {
		if e.Kind() != ast.IdentKind {
			return
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(e.AsIdent(), "@")); err == nil && n < len(i.declared) && !slices.Contains(keys, i.declared[n].Key) {
			keys = append(keys, i.declared[n].Key)
		}
	}
	if part.Kind() == ast.CallKind {
		if part.AsCall().IsMemberFunction() {
			note(part.AsCall().Target())
		}
		for _, arg := range part.AsCall().Args() {
			note(arg)
		}
	}
	if len(keys) == 0 {
		ast.PreOrderVisit(part, ast.NewExprVisitor(note))
	}
	return keys
}

// overload is how CEL says that a function does not take values of these types.
var overload = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '([^']*)'`)

// call returns the function that does not take values of these types, and the
// types; "" if something else is wrong.
func (m misfit) call() (function, of string) {
	if found := overload.FindStringSubmatch(m.message); found != nil {
		return found[1], found[2]
	}
	return "", ""
}

// calculates reports whether values of these types cannot be calculated with.
func (m misfit) calculates() bool {
	switch function, _ := m.call(); function {
	case operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo:
		return true
	}
	return false
}

// never says that the part cannot work, whatever the XATTR has.
func (m misfit) never() string {
	function, of := m.call()
	types := legible(of)
	switch function {
	case "":
		return m.declared() + ": " + legible(m.message)
	case operators.Equals, operators.NotEquals:
		if strings.Contains(of, "null") {
			return m.declared() + ", which is never null: has(xattr." + m.keys[0] + ") says whether there is one"
		}
		return m.declared() + ": values of these types are never equal: " + types
	case operators.In:
		return m.declared() + ": it is never in a list of another type: " + types
	}
	return m.declared() + ": " + functionName(function) + " does not take values of these types: " + types
}

// notWhole says that the part fails if the XATTR is a whole number.
func (m misfit) notWhole() string {
	function, _ := m.call()
	return fmt.Sprintf("xattr.%s is an integer if it has no fraction, and %s does not take an integer and a double: write double(xattr.%s)", m.keys[0], functionName(function), m.keys[0])
}

// declared says what the XATTRs are.
func (m misfit) declared() string {
	return "does not fit the declared type of xattr." + strings.Join(m.keys, " and xattr.")
}

// functionName returns an operator as it is written, the name of any other
// function.
func functionName(function string) string {
	if symbol, ok := operators.FindReverse(function); ok && symbol != "" {
		return symbol
	}
	return function
}

var numberType = regexp.MustCompile(`\b(u?int|double)\b`)

// legible returns what CEL says of types in the words of XATTRs.
func legible(text string) string {
	return strings.ReplaceAll(numberType.ReplaceAllString(text, "number"), "bool", "boolean")
}
