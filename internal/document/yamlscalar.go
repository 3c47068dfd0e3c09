package document

import (
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// The tags of the core schema (YAML 1.2.2, section 10.3.1). tagPlain is the
// non-specific tag, which makes a scalar a string.
const (
	tagPlain  = "!"
	tagString = "!!str"
	tagNull   = "!!null"
	tagBool   = "!!bool"
	tagInt    = "!!int"
	tagFloat  = "!!float"
	tagList   = "!!seq"
	tagObject = "!!map"
)

// scalar makes a node of a scalar without a tag. Quoted ones are strings,
// plain ones are what the core schema says. What the library takes the token
// for does not count: it knows numbers that the schema does not.
func (y *yamlReader) scalar(tk *token.Token) (*Node, error) {
	n := y.node(String, tk)
	switch tk.Type {
	case token.SingleQuoteType:
		n.Text = tk.Value
		return n, nil
	case token.DoubleQuoteType:
		n.Text = tk.Value
		return n, y.checkEscapes(tk)
	case token.ImplicitNullType:
		n.Kind = Null
		return n, nil
	}
	return n, y.plain(n, tk)
}

// The forms of the core schema, section 10.3.2.
var (
	yamlInt   = regexp.MustCompile(`^[-+]?[0-9]+$`)
	yamlOctal = regexp.MustCompile(`^0o[0-7]+$`)
	yamlHex   = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)
	yamlFloat = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	yamlNoNum = regexp.MustCompile(`^([-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN)$`)
)

// plain fills in the kind and text of a plain scalar.
func (y *yamlReader) plain(n *Node, tk *token.Token) error {
	text := tk.Value
	switch text {
	case "", "~", "null", "Null", "NULL":
		n.Kind = Null
		return nil
	case "true", "True", "TRUE":
		n.Kind, n.Bool = Bool, true
		return nil
	case "false", "False", "FALSE":
		n.Kind = Bool
		return nil
	}
	switch {
	case strings.IndexByte("+-.0123456789", text[0]) < 0:
		n.Text = text
	case yamlNoNum.MatchString(text):
		return y.failAt(tk, "%s is no number that a document may hold", text)
	case yamlInt.MatchString(text), yamlFloat.MatchString(text):
		n.Kind, n.Text = Number, jsonLiteral(text)
	case yamlOctal.MatchString(text), yamlHex.MatchString(text):
		const most = 64
		if len(text) > most {
			return y.failAt(tk, "a number in octal or hexadecimal may have %d characters", most)
		}
		base := 8
		if text[1] == 'x' {
			base = 16
		}
		i, _ := new(big.Int).SetString(text[2:], base)
		n.Kind, n.Text = Number, i.String()
	default:
		n.Text = text
	}
	return nil
}

// jsonLiteral writes a decimal number of YAML as JSON has it: without a plus
// sign and leading zeros, with a digit on either side of the point.
func jsonLiteral(text string) string {
	text, negative := strings.CutPrefix(strings.TrimPrefix(text, "+"), "-")
	exponent := ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		text, exponent = text[:i], text[i:]
	}
	whole, fraction, pointed := strings.Cut(text, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if pointed {
		if fraction == "" {
			fraction = "0"
		}
		whole += "." + fraction
	}
	if negative {
		whole = "-" + whole
	}
	return whole + exponent
}

// tagged makes a node of a value with a tag.
func (y *yamlReader) tagged(n *ast.TagNode, depth int) (*Node, error) {
	tag := n.Start.Value
	kinds := map[string][]Kind{
		tagPlain: {String, List, Object}, tagString: {String}, tagNull: {Null}, tagBool: {Bool},
		tagInt: {Number}, tagFloat: {Number}, tagList: {List}, tagObject: {Object},
	}[tag]
	if kinds == nil {
		return nil, y.failAt(n.Start, "the tag %s is not supported", clip(tag))
	}
	var v *Node
	var err error
	scalar, isScalar := n.Value.(ast.ScalarNode)
	_, anchored := n.Value.(*ast.AnchorNode)
	switch {
	case n.Value == nil:
		v = y.node(Null, n.Start)
	case isScalar && !anchored && (tag == tagPlain || tag == tagString):
		v, err = y.str(scalar)
	default:
		v, err = y.value(n.Value, depth)
	}
	if err != nil {
		return nil, err
	}
	if tag == tagString && v.Kind == Null {
		v.Kind = String
	}
	if tag == tagInt && v.Kind == Number && strings.ContainsAny(v.Text, ".eE") || !slices.Contains(kinds, v.Kind) {
		return nil, y.failAt(n.Start, "the tag %s does not fit what follows it", tag)
	}
	return v, nil
}

// str makes a string of a scalar, whatever it looks like.
func (y *yamlReader) str(scalar ast.ScalarNode) (*Node, error) {
	if _, literal := scalar.(*ast.LiteralNode); literal {
		return y.value(scalar, 0)
	}
	tk := scalar.GetToken()
	n := y.node(String, tk)
	if tk.Type == token.ImplicitNullType {
		return n, nil
	}
	n.Text = tk.Value
	return n, y.checkEscapes(tk)
}

// checkEscapes refuses hexadecimal escapes that are none; the library makes
// something of them.
func (y *yamlReader) checkEscapes(tk *token.Token) error {
	if tk.Type != token.DoubleQuoteType {
		return nil
	}
	at := y.offset(tk)
	if at < 0 {
		return nil
	}
	for at++; at+1 < len(y.text) && y.text[at] != '"'; at++ {
		if y.text[at] != '\\' {
			continue
		}
		at++
		digits := map[rune]int{'x': 2, 'u': 4, 'U': 8}[y.text[at]]
		value := 0
		for i := range digits {
			if at+1+i >= len(y.text) {
				return nil
			}
			digit := strings.IndexRune("0123456789abcdef", y.text[at+1+i]|0x20)
			if digit < 0 {
				return y.fail(at+1+i, "unexpected %q where a hexadecimal digit should stand", y.text[at+1+i])
			}
			value = value<<4 | digit
		}
		if value > 0x10ffff {
			return y.fail(at, "there is no character with the number %x", value)
		}
		at += digits
	}
	return nil
}
