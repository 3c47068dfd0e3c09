package expr

import (
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"flowdrive/internal/document"
)

// Declared is an XATTR with the type that a route declares: String, Number or
// Bool.
type Declared struct {
	Key  string // normalised
	Kind document.Kind
}

// Use is a name that an expression writes out, and its place in the text. Line
// and Column count from 1.
type Use struct {
	Name   string
	Line   int
	Column int
	Tested bool // it is only asked whether there is one
}

// Uses are what an expression uses that only the route can judge, each in the
// order of the text.
type Uses struct {
	Xattrs   []Use // keys
	Messages []Use // labels
	Statuses []Use // of children that the tally counts
	Actors   []Use // of the variable actor
	// Misfits are uses of declared XATTRs for which their types are not fit.
	Misfits []Fault
	// Yields is the kind of what the expression yields, Null if only an evaluation
	// can tell.
	Yields   document.Kind
	Readings []Reading // of declared XATTRs as instants and lengths of time
	Unread   []Fault   // texts that are read as such, and cannot be
	// Constant is what the expression yields whatever the case has, and Why, why that
	// fails.
	Constant Constant
	Why      string
	// OfCase reports whether the expression looks at anything but the children.
	OfCase bool
	// CountsChildren reports whether the expression compares the number of all
	// children with a number that is written out.
	CountsChildren bool
}

// Inspector looks at the expressions of one route. It must not be used by
// several goroutines at once.
type Inspector struct {
	declared []Declared
	// Without a fraction a number is an integer, else a double, and CEL has no
	// type for both: an expression is checked with either.
	whole, fraction *cel.Env
}

// NewInspector returns an inspector for a route that declares these XATTRs.
func NewInspector(declared []Declared) *Inspector { return &Inspector{declared: declared} }

// Inspect returns what an expression uses that Compile has accepted, and how it
// uses the declared XATTRs. Of any other expression it returns nothing.
func (i *Inspector) Inspect(source string, want Want) (u Uses) {
	checked, issues := environment().Compile(source)
	if issues.Err() != nil {
		return u
	}
	tree := checked.NativeRep()
	v := useVisitor{tree: tree, uses: &u}
	ast.PreOrderVisit(ast.NavigateAST(tree), ast.NewExprVisitor(v.visit))
	u.Yields = kindOf(checked.OutputType())
	u.Constant, u.Why = constant(checked)
	if len(i.declared) > 0 && strings.Contains(source, "xattr") {
		i.checkTypes(source, want, &u)
	}
	return u
}

// useVisitor notes what an expression uses.
type useVisitor struct {
	tree *ast.AST
	uses *Uses
}

func (v *useVisitor) visit(e ast.Expr) {
	v.reading(e)
	nav, ok := e.(ast.NavigableExpr)
	if !ok || e.Kind() != ast.IdentKind {
		return
	}
	switch e.AsIdent() {
	case "case", "xattr", "links", "input", "message", "actor", "now", "timers", "tasks", "error":
		v.uses.OfCase = true
	}
	if e.AsIdent() == "actor" {
		line, column := place(v.tree, e)
		v.uses.Actors = append(v.uses.Actors, Use{Name: "actor", Line: line, Column: column})
	}
	parent, has := nav.Parent()
	if !has {
		return
	}
	switch e.AsIdent() {
	case "xattr":
		v.note(&v.uses.Xattrs, parent, e)
	case "message":
		v.note(&v.uses.Messages, parent, e)
	case "tally":
		v.tally(parent)
	}
}

func (v *useVisitor) note(to *[]Use, parent ast.NavigableExpr, of ast.Expr) {
	key, literal := keyOf(parent, of)
	if !literal {
		return
	}
	line, column := place(v.tree, of)
	*to = append(*to, Use{Name: key, Line: line, Column: column, Tested: tests(parent)})
}

// tests reports whether the parent only asks whether there is the key.
func tests(parent ast.Expr) bool {
	switch parent.Kind() {
	case ast.SelectKind:
		return parent.AsSelect().IsTestOnly()
	case ast.CallKind:
		return parent.AsCall().FunctionName() == operators.In
	}
	return false
}

// tally notes a status that the tally is asked for, and whether the number of all
// children is compared with a number.
func (v *useVisitor) tally(field ast.NavigableExpr) {
	above, has := field.Parent()
	if field.Kind() != ast.SelectKind || !has {
		return
	}
	switch field.AsSelect().FieldName() {
	case "status":
		v.note(&v.uses.Statuses, above, field)
	case "total":
		if above.Kind() != ast.CallKind || !isComparison(above.AsCall().FunctionName()) {
			return
		}
		for _, arg := range above.AsCall().Args() {
			v.uses.CountsChildren = v.uses.CountsChildren || arg.Kind() == ast.LiteralKind
		}
	}
}

func isComparison(function string) bool {
	switch function {
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return true
	}
	return false
}

func place(tree *ast.AST, e ast.Expr) (line, column int) {
	at := tree.SourceInfo().GetStartLocation(e.ID())
	return max(at.Line(), 1), max(at.Column()+1, 1)
}

// kindOf returns the kind of XATTR that a value of the type becomes, Null if the
// type does not tell.
func kindOf(t *types.Type) document.Kind {
	switch t.Kind() {
	case types.BoolKind:
		return document.Bool
	case types.IntKind, types.UintKind, types.DoubleKind:
		return document.Number
	case types.StringKind, types.TimestampKind, types.DurationKind:
		return document.String
	}
	return document.Null
}
