package document

import (
	"strconv"
	"strings"
)

// Equal reports whether two values are the same, the order of keys included.
// Numbers are the same that are worth the same: 300, 300.0 and 3e2.
func Equal(a, b *Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.Bool != b.Bool || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	if a.Kind == Number {
		return equalNumbers(a.Text, b.Text)
	}
	if a.Text != b.Text {
		return false
	}
	for i := range a.Items {
		if !Equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for i := range a.Members {
		if a.Members[i].Key != b.Members[i].Key || !Equal(a.Members[i].Value, b.Members[i].Value) {
			return false
		}
	}
	return true
}

func equalNumbers(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := readDecimal(a)
	y, okY := readDecimal(b)
	return okX && okY && x == y
}

// decimal is the number ±0.digits·10^exponent, digits without zeros at
// either end; zero has none of the three.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

// readDecimal reads a number's literal exactly. An exponent beyond any use is
// not ok.
func readDecimal(literal string) (d decimal, ok bool) {
	rest, negative := strings.CutPrefix(literal, "-")
	mantissa, exponent := rest, ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exponent = rest[:i], rest[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	d.exponent = int64(len(whole) - (len(whole) + len(fraction) - len(digits)))
	d.digits = strings.TrimRight(digits, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	d.negative = negative
	if exponent != "" {
		e, err := strconv.ParseInt(exponent, 10, 32)
		if err != nil {
			return decimal{}, false
		}
		d.exponent += e
	}
	return d, true
}
