package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"flowdrive/engine"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
)

// What the document of a case lets one change besides its life, its title and its priority
// (docs/contract/drive.md#case). A form that replaces what was shown sends the ETag with which
// it was drawn in the field "match": the drive refuses it if somebody else was faster.

// caseEdit is a form of the page of a case.
type caseEdit struct {
	do, title, submit, text string
	fields                  string // that it has (formfields.go)
	may                     func(d *engine.CaseDetail) bool
	ask                     func(x caseDrawing, v *engine.CaseView) []*field
	send                    func(x caseDrawing, v *engine.CaseView, sent url.Values) ([]driveRequest, error)
	done                    string
}

// ongoing reports whether a case can be changed at all.
func ongoing(d *engine.CaseDetail) bool {
	return d.Archived == 0 && d.Case.Life != machine.Canceled
}

// caseEdits lists the forms, in the order of the page.
func caseEdits() []caseEdit {
	return []caseEdit{
		{
			do: "fields", title: "Fields…", submit: "Store the fields", fields: "match x.*", done: "The fields are stored.",
			text: "A field that is left empty is removed.",
			may:  func(d *engine.CaseDetail) bool { return ongoing(d) && len(editableFields(&d.CaseView)) > 0 },
			ask:  func(_ caseDrawing, v *engine.CaseView) []*field { return editableFields(v) },
			send: func(_ caseDrawing, v *engine.CaseView, sent url.Values) ([]driveRequest, error) {
				fields := editableFields(v)
				if err := askNumbers(fields, sent); err != nil {
					return nil, err
				}
				return edited(v, sent, member{"xattrDict", object(changedXattrs(fields, sent)...)}), nil
			},
		},
		{
			do: "people", title: "People…", submit: "Store the people", fields: "match stakeholders " + rolePrefix + "*", done: "The people are stored.",
			text: "Names of users and teams, with commas between them. Stakeholders see the case without having a task in it.",
			may:  func(d *engine.CaseDetail) bool { return ongoing(d) && (owns(d) || d.RouteAdmin) },
			ask:  caseDrawing.peopleFields,
			send: func(_ caseDrawing, v *engine.CaseView, sent url.Values) ([]driveRequest, error) {
				return edited(v, sent, sentPeople(v, sent)...), nil
			},
		},
		{
			do: "context", title: "Belongs to…", submit: "Store", fields: "match context", done: "The case belongs to another context.",
			text: "Its members see the case. It can be one of those that you are in.",
			may:  func(d *engine.CaseDetail) bool { return ongoing(d) && administers(d) },
			ask: func(x caseDrawing, v *engine.CaseView) []*field {
				return []*field{{Name: "context", Label: "User or team", Kind: "text", Needed: true, Value: v.Case.Context, Suggest: named(x.Queries.Contexts(x.by))}}
			},
			send: func(_ caseDrawing, v *engine.CaseView, sent url.Values) ([]driveRequest, error) {
				return edited(v, sent, always("context", strings.TrimSpace(sent.Get("context")))), nil
			},
		},
		{
			do: "links", title: "Links…", submit: "Store the links", fields: "match links", done: "The links are stored.",
			text: "To other cases, with names of your own.",
			may:  func(d *engine.CaseDetail) bool { return ongoing(d) && owns(d) },
			ask: func(_ caseDrawing, v *engine.CaseView) []*field {
				return []*field{{Name: "links", Label: "Links", Kind: "json", Value: linkLines(v.Case), Hint: "One a line, such as duplicateOf = 42. A line that is taken away removes the link."}}
			},
			send: func(_ caseDrawing, v *engine.CaseView, sent url.Values) ([]driveRequest, error) {
				links, err := sentLinks(v.Case, sent.Get("links"))
				return edited(v, sent, member{"links", object(links...)}), err
			},
		},
		{
			do: "startAt", title: "Start at…", submit: "Set the start", fields: "startAt", done: "The start is set.",
			text: "The case waits until then. Without a date it starts as soon as it can.",
			may:  func(d *engine.CaseDetail) bool { return owns(d) && d.Case.Life == machine.Queued },
			ask: func(x caseDrawing, v *engine.CaseView) []*field {
				f := &field{Name: "startAt", Label: "Start at", Kind: "text", Hint: "A date, or a date and time such as 2012-11-09 12:34."}
				if !v.Case.StartAt.IsZero() {
					f.Value = x.Words.Typed(v.Case.StartAt)
				}
				return []*field{f}
			},
			send: func(x caseDrawing, v *engine.CaseView, sent url.Values) ([]driveRequest, error) {
				return edited(v, sent, orNull("startAt", x.Words.sentDate(strings.TrimSpace(sent.Get("startAt"))))), nil
			},
		},
		{
			do: "remark", title: "Remark…", submit: "Remark it", fields: "comment", done: "Your remark is in the log.",
			text: "It goes into the log of the case, and those who take part in it are told.",
			may:  ongoing,
			ask: func(caseDrawing, *engine.CaseView) []*field {
				return []*field{{Name: "comment", Label: "Remark", Kind: "area", Needed: true}}
			},
			send: func(_ caseDrawing, v *engine.CaseView, sent url.Values) ([]driveRequest, error) {
				if strings.TrimSpace(sent.Get("comment")) == "" {
					return nil, fieldMissing("comment", "Write something.")
				}
				return edited(v, sent, always("comment", sent.Get("comment"))), nil
			},
		},
		{
			do: "label", title: "Write a message…", submit: "Write", fields: "label type content", done: "The message is written.",
			text: "A message of the same label is replaced. Actions that wait for it go on.",
			may:  func(d *engine.CaseDetail) bool { return ongoing(d) && !d.Case.Life.Ended() && d.MayWriteLabels() },
			ask:  labelFields, send: sentLabel,
		},
		{
			do: "archive", title: "Archive…", submit: "Archive", done: "The case is in the archive.",
			text: "It can be read there, and not changed. What it keeps goes with it.",
			may:  func(d *engine.CaseDetail) bool { return owns(d) && d.Case.Life.Ended() },
			ask:  func(caseDrawing, *engine.CaseView) []*field { return nil },
			send: func(_ caseDrawing, v *engine.CaseView, sent url.Values) ([]driveRequest, error) {
				return edited(v, sent, text("do", "archive")), nil
			},
		},
	}
}

// edited is the request that changes a case, on the condition that it is as the form has shown
// it.
func edited(v *engine.CaseView, sent url.Values, members ...member) []driveRequest {
	q := caseRequest(strconv.FormatInt(v.Case.ID, 10), members)
	if match := sent.Get("match"); match != "" {
		q.Header = [][2]string{{"If-Match", match}}
	}
	return []driveRequest{q}
}

// form returns what the form asks of the drive.
func (e caseEdit) form(x *visit, sent url.Values) (*act, error) {
	view, err := caseOfPage(x)
	if err != nil {
		return nil, err
	}
	requests, err := e.send(x.caseDrawing(), view, sent)
	if err != nil {
		return nil, err
	}
	return &act{requests: requests, to: x.with("do", "", "open", "", "timer", ""), done: said(e.done)}, nil
}

// editsOf adds what the reader may change, and the form that is asked for.
func (x caseDrawing) editsOf(v *caseView, d *engine.CaseDetail) {
	for _, e := range caseEdits() {
		if !e.may(d) {
			continue
		}
		at := x.with("do", e.do, "open", "", "timer", "") + "#ask"
		v.Commands = append(v.Commands, anchor{Label: e.title, Href: at})
		switch e.do {
		case "fields":
			v.EditFields = at
		case "people":
			v.EditPeople = at
		case "label":
			v.WriteLabel = at
		}
		if e.do != x.asked() {
			continue
		}
		a := asking{Do: e.do, Title: strings.TrimSuffix(e.title, "…"), Text: e.text, Submit: e.submit, Cancel: v.Post, Post: v.Post, Fields: e.ask(x, &d.CaseView)}
		if slices.Contains(strings.Fields(e.fields), "match") {
			a.Hidden = []hidden{{"match", d.ETag()}}
		}
		if x.sentTo(e.do) && x.refused != nil && x.refused.Status == http.StatusPreconditionFailed {
			tellTheirs(a.Fields, x.sent)
		}
		v.Edit = x.asks(a, e.form)
	}
}

// tellTheirs says at each field that differs from what was typed what somebody else has stored
// meanwhile.
func tellTheirs(fields []*field, sent url.Values) {
	for _, f := range fields {
		if !sent.Has(f.Name) || sent.Get(f.Name) == f.Value {
			continue
		}
		f.Hint = "Now it is: " + cmp.Or(f.Value, "empty") + "."
	}
}

// editableFields returns a field for each XATTR of the case that the reader may change: those
// that the route declares in its order, then the others that the case has, by name.
func editableFields(v *engine.CaseView) (out []*field) {
	for i := range v.Route.Xattrs {
		d := &v.Route.Xattrs[i]
		if !v.MayEditXattr(d.Key) {
			continue
		}
		f := xattrField(d)
		value, _ := v.Case.Xattrs.Get(d.Key)
		out = append(out, holding(f, value))
	}
	for _, one := range v.Case.Xattrs {
		if v.Route.Xattr(one.Key) == nil && v.MayEditXattr(one.Key) {
			p := property{Type: map[document.Kind]string{document.Number: "number", document.Bool: "boolean"}[one.Value.Kind]}
			out = append(out, holding(p.field(one.Key), one.Value))
		}
	}
	return out
}

// holding gives a field the value that the case has. One that is true, false or not there is
// chosen: a box has only two of these.
func holding(f *field, value label.Value) *field {
	f.Value = value.Text
	if f.Kind == "check" {
		f.Kind, f.Options = "select", []option{{Value: "true", Title: "Yes"}, {Value: "false", Title: "No"}}
	}
	if f.Kind == "text" && strings.Contains(f.Value, "\n") {
		f.Kind = "area"
	}
	f.choose()
	return f
}

// changedXattrs returns the XATTRs that a form sends, null for those that it has left empty.
func changedXattrs(fields []*field, sent url.Values) (out []member) {
	known := map[string]bool{}
	for _, f := range fields {
		known[f.Name] = true
		if !sent.Has(f.Name) {
			continue
		}
		value := []byte("null")
		if sent.Get(f.Name) != "" {
			value = f.sentValue(sent)
		}
		out = append(out, member{f.Key, value})
	}
	for _, name := range sortedKeys(sent) { // the drive says why it may not be changed
		if key, is := strings.CutPrefix(name, "x."); is && !known[name] {
			out = append(out, member{key, document.AppendString(nil, sent.Get(name))})
		}
	}
	return out
}

// peopleFields returns a field for each role whose players the reader may choose, and one for
// the stakeholders.
func (x caseDrawing) peopleFields(v *engine.CaseView) (out []*field) {
	for i := range v.Route.Roles {
		role := &v.Route.Roles[i]
		if !v.MayChoosePlayers(role.Name) {
			continue
		}
		suggest := x.Queries.Parties
		if !v.RouteAdmin {
			suggest = func() []Person { return x.Queries.Pickable(x.by, v.Route, role.Name) }
		}
		out = append(out, &field{
			Name: rolePrefix + role.Name, Label: cmp.Or(role.Title, role.Name), Kind: "text",
			Value: strings.Join(v.Case.RoleParties(role.Name), ", "), Suggest: suggested(suggest()),
		})
	}
	return append(out, &field{
		Name: "stakeholders", Label: "Stakeholders", Kind: "text",
		Value: strings.Join(v.Case.Stakeholders, ", "), Suggest: suggested(x.Queries.Parties()),
	})
}

// sentPeople returns the roles and stakeholders that a form sends. Roles are replaced whole:
// those that the form does not have stay.
func sentPeople(v *engine.CaseView, sent url.Values) (out []member) {
	var roles []member
	given := false
	for i := range v.Route.Roles {
		name := v.Route.Roles[i].Name
		players := v.Case.RoleParties(name)
		if sent.Has(rolePrefix + name) {
			given, players = true, names(sent.Get(rolePrefix+name))
		}
		if len(players) > 0 {
			roles = append(roles, member{name, list(players)})
		}
	}
	for _, field := range sortedKeys(sent) { // the drive says that there is no such role
		if name, is := strings.CutPrefix(field, rolePrefix); is && v.Route.Role(name) == nil {
			given, roles = true, append(roles, member{name, list(names(sent.Get(field)))})
		}
	}
	if given {
		out = append(out, member{"roles", object(roles...)})
	}
	if sent.Has("stakeholders") {
		out = append(out, member{"stakeholders", list(names(sent.Get("stakeholders")))})
	}
	return out
}

// linkLines returns the links of a case as one types them.
func linkLines(c *machine.Case) string {
	var lines []string
	for _, l := range c.Relations {
		lines = append(lines, l.Name+" = "+strconv.FormatInt(l.Case, 10))
	}
	return strings.Join(lines, "\n")
}

// sentLinks returns the links that were typed, null for those that the case has besides.
func sentLinks(c *machine.Case, typed string) (out []member, err error) {
	for line := range strings.SplitSeq(typed, "\n") {
		name, to, is := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); name == "" && !is {
			continue
		}
		if !is {
			return nil, fieldMissing("links", "The line "+strconv.Quote(errs.Clip(name, mostOfALine))+" has no = and no number of a case.")
		}
		if slices.ContainsFunc(out, func(m member) bool { return m.key == name }) {
			return nil, fieldMissing("links", "The link "+strconv.Quote(errs.Clip(name, mostOfALine))+" is there more than once.")
		}
		out = append(out, member{name, numberOr(strings.TrimPrefix(strings.TrimSpace(to), "#"))})
	}
	for _, l := range c.Relations {
		if !slices.ContainsFunc(out, func(m member) bool { return m.key == l.Name }) {
			out = append(out, member{l.Name, []byte("null")})
		}
	}
	return out, nil
}

// mostOfALine is how much of a line a fault quotes.
const mostOfALine = 60

// labelTypes are the media types of what is written by hand.
func labelTypes() []option {
	return []option{{Value: "text/plain", Title: "Text"}, {Value: "application/json", Title: "JSON"}, {Value: "text/csv", Title: "CSV"}}
}

// labelFields asks for a message of a case.
func labelFields(_ caseDrawing, v *engine.CaseView) []*field {
	var suggest []option
	for i := range v.Route.Messages {
		suggest = append(suggest, option{Value: v.Route.Messages[i].Label})
	}
	return []*field{
		{Name: "label", Label: "Label", Kind: "text", Needed: true, Hint: "Letters, digits, _ and -.", Suggest: suggest},
		{Name: "type", Label: "What it is", Kind: "radio", Value: labelTypes()[0].Value, Options: labelTypes()},
		{Name: "content", Label: "Content", Kind: "area"},
	}
}

// sentLabel is the request that writes a message.
func sentLabel(_ caseDrawing, v *engine.CaseView, sent url.Values) ([]driveRequest, error) {
	name := strings.TrimSpace(sent.Get("label"))
	if name == "" {
		return nil, fieldMissing("label", "A label is needed.")
	}
	kind := cmp.Or(sent.Get("type"), labelTypes()[0].Value)
	if !slices.ContainsFunc(labelTypes(), func(o option) bool { return o.Value == kind }) {
		return nil, fieldMissing("type", strconv.Quote(errs.Clip(kind, mostOfALine))+" is not a type that this form has.")
	}
	return []driveRequest{{
		Method: http.MethodPut, Path: "/dav/Workflow/Cases/" + strconv.FormatInt(v.Case.ID, 10) + "/Labels/" + url.PathEscape(name),
		Header: [][2]string{{"Content-Type", kind + "; charset=utf-8"}}, Body: []byte(sent.Get("content")),
	}}, nil
}
