package document

import (
	"math/big"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
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

// checkTag refuses a tag before a list or object that does not fit it.
func checkTag(n *yaml.Node, fits string) error {
	if n.Style&yaml.TaggedStyle == 0 || n.Tag == fits {
		return nil
	}
	return wrongTag(n)
}

func wrongTag(n *yaml.Node) error {
	switch n.Tag {
	case tagString, tagNull, tagBool, tagInt, tagFloat, tagList, tagObject:
		return failAt(n, "the tag %s does not fit what follows it", n.Tag)
	}
	if strings.ContainsAny(n.Tag, "(.[") && !strings.HasPrefix(n.Tag, "!!") && !strings.HasPrefix(n.Tag, "tag:") {
		return failAt(n, "the tag %s is not supported; put the value in quotes if it begins with a !", clip(n.Tag))
	}
	return failAt(n, "the tag %s is not supported", clip(n.Tag))
}

// scalar makes a node of a scalar: a string if it has quotes or a tag that
// says so, else what the core schema makes of it. The tag that the library
// finds for a scalar without one does not count: it knows numbers and times
// that the schema does not.
func scalar(n *yaml.Node) (*Node, error) {
	out := &Node{Kind: String, Text: n.Value, Line: n.Line, Column: n.Column}
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	tagged := n.Style&yaml.TaggedStyle != 0
	if n.Tag == tagPlain || tagged && n.Tag == tagString {
		return out, nil
	}
	if n.Style&quoted == 0 {
		if err := plain(out, n); err != nil {
			return nil, err
		}
	}
	if tagged && !fits(n.Tag, out) {
		return nil, wrongTag(n)
	}
	return out, nil
}

// fits reports whether the tag is that of the scalar.
func fits(tag string, n *Node) bool {
	switch tag {
	case tagNull:
		return n.Kind == Null
	case tagBool:
		return n.Kind == Bool
	case tagInt:
		return n.Kind == Number && !strings.ContainsAny(n.Text, ".eE")
	case tagFloat:
		return n.Kind == Number
	}
	return false
}

// The forms of numbers in the core schema, section 10.3.2.
var (
	yamlBased = regexp.MustCompile(`^0(o[0-7]+|x[0-9a-fA-F]+)$`)
	yamlFloat = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	yamlNoNum = regexp.MustCompile(`^([-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN)$`)
)

// plain fills in the kind and text of a scalar without quotes.
func plain(out *Node, n *yaml.Node) error {
	text := n.Value
	switch text {
	case "", "~", "null", "Null", "NULL":
		out.Kind, out.Text = Null, ""
		return nil
	case "true", "True", "TRUE", "false", "False", "FALSE":
		out.Kind, out.Text, out.Bool = Bool, "", strings.EqualFold(text, "true")
		return nil
	}
	switch {
	case strings.IndexByte("+-.0123456789", text[0]) < 0:
	case yamlNoNum.MatchString(text):
		return failAt(n, "%s is not a number that a document may hold", text)
	case yamlFloat.MatchString(text):
		out.Kind, out.Text = Number, jsonLiteral(text)
	case yamlBased.MatchString(text):
		const most = 64
		if len(text) > most {
			return failAt(n, "a number in octal or hexadecimal may have %d characters", most)
		}
		i, _ := new(big.Int).SetString(text, 0)
		out.Kind, out.Text = Number, i.String()
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
