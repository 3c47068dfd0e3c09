package route

import (
	"strconv"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

// formTypes warns of what a form asks for that an XATTR cannot have, or not this one: who
// fills it in is refused, whatever they give.
func (w *warner) formTypes() {
	for i := range w.route.Actions {
		if w.route.Actions[i].Form == nil {
			continue
		}
		properties := w.action(i).Get("form").Get("properties")
		if !isKind(properties, document.Object) {
			continue
		}
		for j := range properties.Node.Members {
			name, asked := properties.Member(j)
			key, err := label.NormalizeKey(name)
			if err != nil || !isKind(asked, document.Object) {
				continue
			}
			x := w.route.Xattr(key)
			if x == nil {
				x = &Xattr{Key: key}
			}
			w.formType(asked, x)
		}
	}
}

// formType judges the schema of one XATTR.
func (w *warner) formType(asked document.Value, x *Xattr) {
	if types := kindsOf(asked.Get("type")); types != nil {
		fits, scalar := false, false
		for _, kind := range types {
			scalar = scalar || kind != document.List && kind != document.Object && kind != document.Null
			fits = fits || x.Type == document.Null || x.Type == kind
		}
		switch {
		case !scalar:
			w.warn(asked.Get("type"), "nobody can give it: an XATTR is a string, a number or a boolean")
			return
		case !fits:
			w.warn(asked.Get("type"), "the XATTR %q is declared as %s: write %s here, or change the declaration in xattrs", x.Key, x.Wants(), typeWord(x.Type))
			return
		}
	}
	if values := asked.Get("enum"); isKind(values, document.List) && len(values.Node.Items) > 0 {
		can := false
		for i := range values.Node.Items {
			can = can || x.takes(values.Item(i).Node)
		}
		if !can {
			w.warn(values, "none of these can be the value of the XATTR %q, which is declared as %s", x.Key, x.Wants())
		}
	}
	if value := asked.Get("const"); value.Given() && !x.takes(value.Node) {
		w.warn(value, "cannot be the value of the XATTR %q, which is declared as %s", x.Key, x.Wants())
	}
	if format, is := str(asked.Get("format")); is && x.Date && format != "date" && isTimeFormat(format) {
		w.warn(asked.Get("format"), "the XATTR %q is declared with format: date: nobody can give it as %s", x.Key, format)
	}
	w.formBounds(asked, x)
}

// formBounds judges the bounds of a number beside those of its declaration.
func (w *warner) formBounds(asked document.Value, x *Xattr) {
	bound := func(key string) (*float64, document.Value) {
		v := asked.Get(key)
		if !isKind(v, document.Number) {
			return nil, v
		}
		f, err := strconv.ParseFloat(v.Node.Text, 64)
		if err != nil {
			return nil, v
		}
		return &f, v
	}
	if low, at := bound("minimum"); low != nil && x.Maximum != nil && *low > *x.Maximum {
		w.warn(at, "nobody can give it: the XATTR %q is declared with maximum: %s", x.Key, number(*x.Maximum))
	}
	high, at := bound("maximum")
	if high != nil && x.Minimum != nil && *high < *x.Minimum {
		w.warn(at, "nobody can give it: the XATTR %q is declared with minimum: %s", x.Key, number(*x.Minimum))
	}
	if low, _ := bound("minimum"); low != nil && high != nil && *low > *high {
		w.warn(at, "nobody can give it: minimum is %s", number(*low))
	}
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// takes reports whether the XATTR can have the value. A text that reads as the declared
// type is taken as one.
func (x *Xattr) takes(n *document.Node) bool {
	v, ok := label.ValueOf(n)
	if !ok {
		return false
	}
	if x.Fits(v) {
		return x.Outside(v) == ""
	}
	read, err := document.ParseJSON([]byte(v.Text))
	return v.Kind == document.String && err == nil && read.Kind == x.Type
}

func isTimeFormat(format string) bool {
	return format == "date-time" || format == "time" || format == "duration" || format == "email" || format == "uri"
}

// typeWord returns the type as a document writes it.
func typeWord(kind document.Kind) string {
	switch kind {
	case document.Number:
		return "number"
	case document.Bool:
		return "boolean"
	default:
		return "string"
	}
}

// kindsOf returns the kinds of values that the type of a schema allows, nil if it does not
// say.
func kindsOf(v document.Value) (kinds []document.Kind) {
	names := []document.Value{v}
	if isKind(v, document.List) {
		names = nil
		for i := range v.Node.Items {
			names = append(names, v.Item(i))
		}
	}
	for _, item := range names {
		switch name, _ := str(item); name {
		case "string":
			kinds = append(kinds, document.String)
		case "number", "integer":
			kinds = append(kinds, document.Number)
		case "boolean":
			kinds = append(kinds, document.Bool)
		case "array":
			kinds = append(kinds, document.List)
		case "object":
			kinds = append(kinds, document.Object)
		case "null":
			kinds = append(kinds, document.Null)
		}
	}
	return kinds
}
