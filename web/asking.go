package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// asking is a form that a page shows in a card of its own: some fields, or only whether
// to do it. The address says do=<name> while it is open, so that it needs no script.
type asking struct {
	Do      string
	Title   string
	Text    string // what it does, "" if that is plain
	Submit  string // on the button
	Cancel  string // address without it, "" for none
	Post    string // where it is sent to
	Key     string
	Curl    string
	Hidden  []hidden // what else is sent
	Fields  []*field
	More    []*field // folded until one of them has a value or a fault
	File    *fileField
	Refused *refusal
}

// sentTo reports whether the form of that name was sent and is drawn again.
func (x *visit) sentTo(do string) bool { return x.sent != nil && x.sent.Get("do") == do }

// asked returns what is to be asked: the form that was sent, or that the address names.
func (x *visit) asked() string {
	if x.sent != nil {
		return x.sent.Get("do")
	}
	return x.query.Get("do")
}

// about returns the name of what the form is about: it was sent with it or, before, the
// address has it.
func (x *visit) about() string {
	if x.sent != nil {
		return x.sent.Get("name")
	}
	return x.query.Get("name")
}

// asks completes the form: what was typed, what is wrong with it, and its curl lines by
// what f makes of it.
func (x *visit) asks(a asking, f form) *asking {
	a.Key = x.Key()
	if a.Post == "" {
		a.Post = x.with("do", "", "name", "")
	}
	if x.sentTo(a.Do) {
		a.Refused = x.refused.within(slices.Concat(a.Fields, a.More))
	}
	v := url.Values{"do": {a.Do}}
	for _, h := range a.Hidden {
		v.Set(h.Name, h.Value)
	}
	for _, one := range slices.Concat(a.Fields, a.More) {
		if one.Kind == "password" && x.sentTo(a.Do) { // the curl lines say that there is one
			v.Set(one.Name, x.sent.Get(one.Name))
		}
		x.fillAsked(a.Do, one)
		if one.Kind == "password" {
			continue
		}
		if one.Kind != "check" || one.Value == "true" {
			v.Set(one.Name, one.Value)
		}
	}
	if a.File != nil {
		for _, h := range a.File.Kept {
			v.Set(h.Name, h.Value)
		}
	}
	a.Curl = curlOf(x, f, v, slices.Concat(a.Fields, a.More))
	return &a
}

// curlOf returns the curl lines of what a form asks. As long as something is missing that it
// needs, they have the name of that field in capital letters in its place.
func curlOf(x *visit, f form, v url.Values, fields []*field) string {
	done, err := f(x, v)
	if err != nil {
		for _, one := range fields {
			if one.Needed && strings.TrimSpace(v.Get(one.Name)) == "" {
				v.Set(one.Name, strings.ToUpper(one.Name))
			}
		}
		done, err = f(x, v)
	}
	if err != nil || done == nil {
		return ""
	}
	return x.curlLines(done.requests)
}

// Unfolded reports whether a field that is folded has something to show.
func (a *asking) Unfolded() bool {
	return slices.ContainsFunc(a.More, func(f *field) bool { return f.Value != "" || f.Fault != "" })
}

func (x *visit) fillAsked(do string, f *field) {
	f.ID = do + "-" + f.Name
	if x.sentTo(do) {
		f.Fault = x.refused.Of(f.Name)
		if f.Kind == "check" {
			f.Value = strconv.FormatBool(x.sent.Get(f.Name) == "true")
		} else if f.Kind == "boxes" {
			f.Value = strings.Join(x.sent[f.Name], ", ")
		} else if typed, was := x.Sent(f.Name); was {
			f.Value = typed
		}
	}
	if f.Kind == "datetime" {
		f.asLocalTime()
	}
	f.choose()
	if f.Kind == "password" { // it is never sent back
		f.Value = ""
	}
}

// secretShown is what curl lines have in place of a password.
const secretShown = "…"

// put returns the request that stores members at a path of the drive. Those that are
// named in secret are not in its curl line.
func put(path string, members []member, secret ...string) driveRequest {
	q := driveRequest{Method: "PUT", Path: path, Body: object(members...)}
	if len(secret) > 0 {
		shown := make([]member, len(members))
		for i, m := range members {
			for _, name := range secret {
				if m.key == name {
					m.value = document.AppendString(nil, secretShown)
				}
			}
			shown[i] = m
		}
		q.Shown = object(shown...)
	}
	return q
}

// said returns what tells of an act when it is done, whatever was answered.
func said(text string) func([]*driveAnswer) notice {
	return func([]*driveAnswer) notice { return notice{Text: text} }
}

// names returns the names of a field that takes several, by commas or lines.
func names(text string) []string {
	var out []string
	for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == ' ' || r == ';' }) {
		out = append(out, strings.TrimSpace(one))
	}
	return out
}

// missing is the refusal of a form that lacks a value of its own.
func missing(name string) error {
	return errs.New(errs.BadParameter, "The form has no %q.", name)
}
