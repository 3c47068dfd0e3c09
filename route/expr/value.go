package expr

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

// Scalar evaluates an expression for the value of an XATTR. ok is false if the
// result is null. It fails if the evaluation fails, or if the result is not a
// string, a number or a boolean.
func (p *Program) Scalar(v *Values) (value label.Value, ok bool, err error) {
	out, err := p.eval(v)
	if err != nil {
		return label.Value{}, false, err
	}
	switch x := out.(type) {
	case types.Null:
		return label.Value{}, false, nil
	case types.String:
		return label.Text(string(x)), true, nil
	case types.Bool:
		return label.Value{Kind: document.Bool, Text: strconv.FormatBool(bool(x))}, true, nil
	case types.Int, types.Uint, types.Double:
		number, err := appendJSON(nil, out)
		return label.Value{Kind: document.Number, Text: string(number)}, err == nil, err
	case types.Timestamp, types.Duration:
		s, err := instant(out)
		return label.Text(s), err == nil, err
	}
	return label.Value{}, false, fmt.Errorf("must be a string, a number, a boolean or null, not of type %s", out.Type().TypeName())
}

// JSON evaluates an expression for a value of JSON. It fails if the evaluation
// fails or costs too much, or if the result cannot be written as JSON.
func (p *Program) JSON(v *Values) ([]byte, error) {
	out, err := p.eval(v)
	if err != nil {
		return nil, err
	}
	return appendJSON(nil, out)
}

// instant writes a point or a length of time as JSON has them elsewhere.
func instant(v ref.Val) (string, error) {
	switch x := v.(type) {
	case types.Timestamp:
		if y := x.UTC().Year(); y < 0 || y > 9999 {
			return "", fmt.Errorf("the year %d cannot be written", y)
		}
		return x.UTC().Format(time.RFC3339), nil
	case types.Duration:
		return "PT" + strconv.FormatInt(int64(x.Duration/time.Second), 10) + "S", nil
	}
	return "", fmt.Errorf("of type %s, not a time", v.Type().TypeName())
}

// appendJSON appends a value as JSON, the keys of objects in their order.
func appendJSON(dst []byte, v ref.Val) ([]byte, error) {
	switch x := v.(type) {
	case types.Null:
		return append(dst, "null"...), nil
	case types.Bool:
		return strconv.AppendBool(dst, bool(x)), nil
	case types.Int:
		return strconv.AppendInt(dst, int64(x), 10), nil
	case types.Uint:
		return strconv.AppendUint(dst, uint64(x), 10), nil
	case types.Double:
		return appendDouble(dst, float64(x))
	case types.String:
		return document.AppendString(dst, string(x)), nil
	case types.Bytes:
		return document.AppendString(dst, base64.StdEncoding.EncodeToString(x)), nil
	case types.Timestamp, types.Duration:
		s, err := instant(v)
		return document.AppendString(dst, s), err
	case traits.Lister:
		return appendList(dst, x)
	case traits.Mapper:
		return appendMap(dst, x)
	}
	return dst, fmt.Errorf("a value of type %s cannot be written as JSON", v.Type().TypeName())
}

// appendDouble writes a whole number without a fraction, as JSON does.
func appendDouble(dst []byte, f float64) ([]byte, error) {
	const exact = 1 << 53
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return dst, fmt.Errorf("%v is not a valid JSON number", f)
	case f == math.Trunc(f) && math.Abs(f) <= exact:
		return strconv.AppendInt(dst, int64(f), 10), nil
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64), nil
}

func appendList(dst []byte, list traits.Lister) ([]byte, error) {
	dst = append(dst, '[')
	var err error
	for i, it := 0, list.Iterator(); it.HasNext() == types.True; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendJSON(dst, it.Next()); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendMap(dst []byte, m traits.Mapper) ([]byte, error) {
	dst = append(dst, '{')
	for i, it := 0, m.Iterator(); it.HasNext() == types.True; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		key := it.Next()
		name, ok := key.(types.String)
		if !ok {
			return dst, fmt.Errorf("a key of type %s cannot be written as JSON", key.Type().TypeName())
		}
		dst = append(document.AppendString(dst, string(name)), ':')
		value, found := m.Find(key)
		if !found {
			return dst, fmt.Errorf("the key %q has no value", string(name))
		}
		var err error
		if dst, err = appendJSON(dst, value); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// number returns a literal of JSON as a value: whole ones as integers, since
// people count with them.
func number(literal string) ref.Val {
	if i, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return types.Int(i)
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return types.NewErr("%q is out of range", literal)
	}
	return types.Double(f)
}

// json returns a document as a value. What is in a list or an object is made a value when
// it is asked for. Large objects are kept, with the index that they make of their keys.
func (v *Values) json(n *document.Node) ref.Val {
	if n == nil {
		return types.NullValue
	}
	switch n.Kind {
	case document.Bool:
		return types.Bool(n.Bool)
	case document.Number:
		return number(n.Text)
	case document.String:
		return types.String(n.Text)
	case document.List:
		return types.NewDynamicList(nodes{v}, n.Items)
	case document.Object:
		if made, known := v.objects[n]; known {
			return made
		}
		made := tableOf(n.Members, func(m document.Member) string { return m.Key }, func(m document.Member) ref.Val { return v.json(m.Value) })
		if len(n.Members) <= fewItems {
			return made
		}
		if v.objects == nil {
			v.objects = map[*document.Node]ref.Val{}
		}
		v.objects[n] = made
		return made
	case document.Null:
	}
	return types.NullValue
}

// nodes makes values of the elements of a list.
type nodes struct{ *Values }

// NativeToValue implements types.Adapter.
func (n nodes) NativeToValue(value any) ref.Val {
	if node, ok := value.(*document.Node); ok {
		return n.json(node)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

// xattrValue returns the value of an XATTR.
func xattrValue(v label.Value) ref.Val {
	switch v.Kind {
	case document.Number:
		return number(v.Text)
	case document.Bool:
		return types.Bool(v.Text == "true")
	default:
		return types.String(v.Text)
	}
}
