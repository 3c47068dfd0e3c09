package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/label"
	"flowdrive/route"
)

// A draft is a queued case that lacks XATTRs which its route requires. It waits for
// its starter, who has a task that asks for them, and starts once they are there
// (docs/contract/drive.md#draft-cases).

// StateDraft is what people see as the state of a draft; see Shown.
const StateDraft = "draft"

// DraftAction names the task of a draft. Performing it starts the case.
const DraftAction = "start"

// DraftLifetime is how long a draft waits before it is canceled.
const DraftLifetime = 30 * 24 * time.Hour

// The starter of a draft is reminded a day after it was made, and then every week.
const (
	firstDraftReminder = 24 * time.Hour
	laterDraftReminder = 7 * 24 * time.Hour
)

// Draft says of a case that it is a draft, or was one when it was canceled.
type Draft struct {
	Ends   time.Time `json:"e"`          // when it is canceled
	Remind time.Time `json:"r,omitzero"` // when its starter is reminded next; zero: not any more
}

// Submit gives a draft what it lacks; the case is queued then. The caller has checked
// the rights and replaced the labels. If something is missing or of a wrong type, the
// error is errs.Invalid, and the case stays a draft.
type Submit struct {
	Actor    Actor
	Comment  string
	Title    string
	Xattrs   label.Dict // all that the case is to have
	Warnings []string   // for the log, as those of Create
}

func (Submit) event() {}

// IsDraft reports whether the case is a draft now.
func (c *Case) IsDraft() bool { return c.Draft != nil && c.Life == Queued }

// Lacks returns the XATTRs that the route requires and the dictionary has no value of, in
// order of definition.
func Lacks(r *route.Route, dict label.Dict) (out []*route.Xattr) {
	for i := range r.Xattrs {
		x := &r.Xattrs[i]
		v, given := dict.Get(x.Key)
		byDefault := x.Default != nil && (!given || v == *x.Default)
		if x.Required && !byDefault && !hasValue(dict, x.Key) {
			out = append(out, x)
		}
	}
	return out
}

// hasValue reports whether the dictionary says something by the key: the empty text says
// nothing (docs/contract/routes.md#1-document).
func hasValue(dict label.Dict, key string) bool {
	v, given := dict.Get(key)
	return given && !isEmpty(v)
}

func isEmpty(v label.Value) bool { return v.Kind == document.String && v.Text == "" }

// requiredDetail says what is wrong with an XATTR that is required and has no value. Who
// has written another name is told the names that the route has.
func requiredDetail(r *route.Route, dict label.Dict, key string) string {
	if _, given := dict.Get(key); given {
		return "must not be empty: it is required by the route"
	}
	var names, others []string
	for i := range r.Xattrs {
		names = append(names, r.Xattrs[i].Key)
	}
	for _, x := range dict {
		if r.Xattr(x.Key) == nil {
			others = append(others, x.Key)
		}
	}
	if others == nil {
		return "is required by the route"
	}
	return fmt.Sprintf("is required by the route, which has %s, not %s", strings.Join(names, ", "), strings.Join(others, ", "))
}

// due returns when something happens to a draft by itself.
func (d *Draft) due() time.Time {
	if !d.Remind.IsZero() && d.Remind.Before(d.Ends) {
		return d.Remind
	}
	return d.Ends
}

func newDraft(now time.Time) *Draft {
	return &Draft{Ends: now.Add(DraftLifetime), Remind: now.Add(firstDraftReminder)}
}

// submit makes a draft a case that can be started.
func (d personal) submit(e Submit) error {
	if !d.c.IsDraft() {
		return d.refusals().notOpen()
	}
	lacked := Lacks(d.route, d.c.Xattrs)
	d.c.Title, d.c.Xattrs = e.Title, e.Xattrs.Sorted()
	d.dropRoles()
	if err := d.xattrs().addDeclared(); err != nil {
		return err
	}
	d.c.Draft, d.changed, d.asked = nil, true, DraftAction
	text := "No longer a draft"
	if len(lacked) > 0 {
		text = "Gave " + xattrKeys(lacked)
	}
	d.add(LogEntry{
		Kind: LogTask, Action: new(DraftAction), Actor: new(e.Actor.Name), Trigger: new(ByUser), Comment: comment(e.Comment),
		From: new(StateDraft), To: new(string(Queued)), Text: text,
	})
	for _, text := range e.Warnings {
		d.add(LogEntry{Kind: LogWarning, Text: text})
	}
	return nil
}

// draftDue does what is due on a draft: its starter is reminded, or it ends.
func (d *caseDecision) draftDue() {
	draft := *d.c.Draft
	switch {
	case !draft.Ends.After(d.now):
		text := textCanceled + ": it was a draft, and nobody has given what it lacks"
		if lacked := Lacks(d.route, d.c.Xattrs); len(lacked) > 0 {
			text = textCanceled + ": it was a draft, and nobody has given " + xattrKeys(lacked)
		}
		d.setLife(Canceled, LogEntry{Actor: new(ActorTimer), Trigger: new(ByTime), Text: text})
	case !draft.Remind.IsZero() && !draft.Remind.After(d.now):
		if draft.Remind = d.now.Add(laterDraftReminder); !draft.Remind.Before(draft.Ends) {
			draft.Remind = time.Time{}
		}
		d.c.Draft, d.changed = &draft, true
		d.add(LogEntry{
			Kind: LogTask, Action: new(DraftAction), Actor: new(ActorTimer), Trigger: new(ByTime), Text: "Reminded " + d.c.Starter,
		})
	}
}

// draftTask notifies the starter of a draft of its task, at once and when it is time to remind
// them of it. The answer to a drop tells the program that has made it, and not always a
// person: that of a mounted drive is seen by nobody, and that to a hook by the sender.
func (n *noticeBuilder) draftTask(d *caseDecision) {
	switch from := d.from; {
	case !d.c.IsDraft():
	case from == nil || !from.IsDraft():
		n.task(d.c.Starter, ReasonTask, TaskRef{d.c.ID, DraftAction})
	case d.c.Draft.Remind != from.Draft.Remind:
		n.task(d.c.Starter, ReasonReminder, TaskRef{d.c.ID, DraftAction})
	}
}

// notDraft returns the refusal of something that cannot be done with a draft.
func (d refusals) notDraft() error {
	e := errs.New(errs.CaseNotOpen, "%s", DraftWhy(d.c, d.route))
	e.Extra = map[string]any{"state": StateDraft}
	return e
}

// DraftWhy says in a sentence or two what a draft waits for.
func DraftWhy(c *Case, r *route.Route) string {
	text := "The case is a draft: it starts once " + c.Starter + " has saved its task \"" + DraftAction + "\""
	if lacked := Lacks(r, c.Xattrs); len(lacked) > 0 {
		text = "The case is a draft: it starts once " + c.Starter + " has given " + xattrKeys(lacked) + " in its task \"" + DraftAction + "\""
	}
	return text + "."
}

// DraftTitle returns the title of the task of a draft.
func DraftTitle(c *Case, r *route.Route) string {
	var names []string
	for _, x := range Lacks(r, c.Xattrs) {
		if x.Title != "" {
			names = append(names, x.Title)
		} else {
			names = append(names, x.Key)
		}
	}
	if names == nil {
		return "Start the case"
	}
	return clipLine("Say what is missing: " + strings.Join(names, ", "))
}

// xattrKeys returns the keys of XATTRs in a text.
func xattrKeys(list []*route.Xattr) string {
	keys := make([]string, len(list))
	for i, x := range list {
		keys[i] = x.Key
	}
	return strings.Join(keys, ", ")
}

// DraftForm returns the complete form of the task of a draft, as TaskForm does of other
// tasks. Its xattrDict and form have what the case lacks, and nothing else.
func DraftForm(c *Case, r *route.Route, beside Beside) []byte {
	lacked := Lacks(r, c.Xattrs)
	b := append(make([]byte, 0, 1536), `{"do":"","comment":"","resolution":null,"xattrDict":{`...)
	for i, x := range lacked {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(document.AppendString(b, x.Key), `:null`...)
	}
	b = appendOfCase(append(b, '}'), c, "", beside.Files)
	b = appendString(b, `,"action":`, DraftAction)
	b = appendString(b, `,"title":`, DraftTitle(c, r))
	b = appendString(b, `,"description":`, "The case is a draft: the route "+c.RouteName+" requires what xattrDict asks for. Fill it in and save this file; the case starts then. It is canceled at the date in due otherwise.")
	b = appendString(b, `,"choices":{"perform":`, "The case starts with the file that was dropped.")
	b = appendString(b, `,"abort":`, "The draft is given up: the case is canceled.")
	b = append(b, `},"leadsTo":[]`...)
	b = appendString(b, `,"state":`, string(Offered))
	b = appendTimeOrNull(b, `,"due":`, c.Draft.Ends)
	b = append(b, `,"acceptBy":null,"fireAt":null`...)
	b = appendTimeOrNull(b, `,"offered":`, c.Created)
	b = appendStrings(b, `,"roles":`, nil)
	b = appendStrings(b, `,"assignees":`, []string{c.Starter})
	b = append(b, `,"acceptedBy":null,"need":null,"warnings":[],"resolutions":{},"form":`...)
	b = appendDraftSchema(b, lacked)
	return document.Indent(append(appendInt(b, `,"version":`, c.Version), "}\n"...))
}

// appendDraftSchema appends the JSON Schema of what a draft lacks.
func appendDraftSchema(b []byte, lacked []*route.Xattr) []byte {
	b = append(b, `{"type":"object","properties":{`...)
	for i, x := range lacked {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(document.AppendString(b, x.Key), `:{`...)
		if x.Title != "" {
			b = append(appendString(b, `"title":`, x.Title), ',')
		}
		if kind := schemaType(x.Type); kind != "" {
			b = appendString(b, `"type":`, kind)
		} else {
			b = append(b, `"type":["string","number","boolean"]`...)
		}
		b = append(b, '}')
	}
	keys := make([]string, len(lacked))
	for i, x := range lacked {
		keys[i] = x.Key
	}
	return append(appendStrings(b, `},"required":`, keys), '}')
}

// schemaType returns the name of a kind of values in a JSON Schema, "" for any kind.
func schemaType(kind document.Kind) string {
	switch kind {
	case document.String:
		return "string"
	case document.Number:
		return "number"
	case document.Bool:
		return "boolean"
	default:
		return ""
	}
}

// sharesOfDraft returns who has the task of a draft: its starter alone.
func sharesOfDraft(c *Case) []Share { return []Share{{Party: c.Starter, Lists: OnOffered}} }

// tasksOfDraft returns the task of a draft if the actor is its starter.
func tasksOfDraft(c *Case, actor Actor) []Task {
	if !sameName(actor.Name, c.Starter) {
		return nil
	}
	return []Task{{OfDraft: true, Lists: OnOffered, Assigned: true}}
}

// waitsOfDraft returns what a draft waits for.
func waitsOfDraft(c *Case, r *route.Route) []Wait {
	who := []string{c.Starter}
	return []Wait{{
		Action: DraftAction, Title: DraftTitle(c, r), State: Offered, Who: who, Assigned: slices.Clone(who), Since: c.Created, Due: c.Draft.Ends, Remind: c.Draft.Remind,
	}}
}

// textDrafted is what the log says of a new draft.
func textDrafted(lacked []*route.Xattr) string {
	return fmt.Sprintf("%s as a draft: it lacks %s", textCreated, xattrKeys(lacked))
}
