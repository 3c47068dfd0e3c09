package machine

import (
	"slices"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// readTexts returns what a person gives with an action, with texts that read as a number
// or boolean as one if the route declares the XATTR so, or else if the form asks for it.
// Properties, labels and command lines can only give texts, with an action as at a start
// (docs/contract/routes.md#1-document).
func (d personal) readTexts(a *route.Action, changes []Change) []Change {
	out := slices.Clone(changes)
	undeclared := false
	for i := range out {
		x := &out[i]
		if x.Remove || x.Value.Kind != document.String {
			continue
		}
		declared := d.route.Xattr(x.Key)
		if declared == nil {
			_, reads := readAsAny(x.Value)
			undeclared = undeclared || reads
		} else if !declared.Fits(x.Value) {
			x.Value = orRead(x.Value, declared.Type)
		}
	}
	if a.Form == nil || !undeclared {
		return out
	}
	texts := slices.Clone(out)
	for _, i := range ofWrongType(a.Form, out) {
		if value, reads := readAsAny(out[i].Value); reads && d.route.Xattr(out[i].Key) == nil {
			out[i].Value = value
		}
	}
	for _, i := range ofWrongType(a.Form, out) { // the form wants neither: the fault is about what was sent
		out[i] = texts[i]
	}
	return out
}

// readAsAny reads a text as a number or boolean.
func readAsAny(v label.Value) (label.Value, bool) {
	if read, ok := readAs(document.Number, v); ok {
		return read, true
	}
	return readAs(document.Bool, v)
}

// orRead reads a text as a value of that type if it can be read so.
func orRead(v label.Value, kind document.Kind) label.Value {
	if read, ok := readAs(kind, v); ok {
		return read
	}
	return v
}

// ofWrongType returns the places of the changes that are of another type than the form
// wants.
func ofWrongType(form *route.Form, changes []Change) (places []int) {
	for _, f := range formFaults(form, changes) {
		if i := atPointer(changes, f.Pointer); f.Code == errs.CodeType && i >= 0 {
			places = append(places, i)
		}
	}
	return places
}

// atPointer returns the place of the change that a fault points at, -1 for none.
func atPointer(changes []Change, pointer string) int {
	return slices.IndexFunc(changes, func(x Change) bool { return document.Pointer("/xattrDict", x.Key) == pointer })
}

// formFaults returns what the form finds wrong with the changes.
func formFaults(form *route.Form, changes []Change) []errs.Fault {
	sent := make([]route.Sent, len(changes))
	for i := range changes {
		if sent[i].Key = changes[i].Key; !changes[i].Remove {
			sent[i].Value = &changes[i].Value
		}
	}
	return form.Faults(sent, "/xattrDict")
}
