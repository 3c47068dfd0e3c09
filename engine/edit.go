package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"flowdrive/engine/access"
	"flowdrive/engine/machine"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
	"flowdrive/schedule"
	"flowdrive/store"
)

// edit is what a document changes of a case: only fields that differ from
// what is stored are set.
type edit struct {
	machine.Edit
	life machine.Event // Cancel, Suspend, Resume or Reopen: what becomes of it then; nil: nothing
}

// readEdit reads a document against the case that it changes. Absent fields
// stay, null resets.
func (e *Cases) readEdit(by identity.Principal, h *loadedCase, root document.Value, ref Ref) (*edit, error) {
	ed := &edit{Edit: machine.Edit{Actor: e.rights.Actor(by, h.admin)}}
	if !root.Is(document.Object) {
		return ed, nil
	}
	known := append(caseFields(), fieldComment)
	if !ref.Identity() {
		known = append(known, startOnly()...) // a case under its given name is saved again as it was started
		for _, key := range startOnly() {
			if v := root.Get(key); v.Given() {
				v.Fail(errs.CodeReadOnly, "was taken when the case started; it is the message %s now", store.LabelInput)
			}
		}
	}
	root.Only(known...)
	checkCaseIdentity(root, h.core)
	checkCaseComputed(root, h)
	e.readPlain(root, h, ed)
	e.readRoleChange(root, h, ed)
	contextErr := e.readContextChange(by, root, h, ed)
	readLife(root, h, ed, e.zoneOf(by))
	if v := root.Get(fieldComment); v.Given() {
		v.Text(&ed.Remark, machine.MaxRemark)
		ed.withLife()
	}
	return ed, contextErr
}

// checkCaseIdentity refuses identifying fields that differ from the case's.
func checkCaseIdentity(root document.Value, c *machine.Case) {
	must := func(key, stored string) {
		if v := root.Get(key); v.Given() && (v.Node.Kind != document.String && v.Node.Kind != document.Number || v.Node.Text != stored) {
			v.Fail(errs.CodeReadOnly, "is read-only and must stay %s", stored)
		}
	}
	number := func(key string, stored int64) {
		if v := root.Get(key); v.Given() {
			if n, ok := v.Int(1, 1<<53-1); ok && n != stored {
				v.Fail(errs.CodeReadOnly, "is read-only and must stay %d", stored)
			}
		}
	}
	number("id", c.ID)
	number("routeId", c.RouteID)
	must("guid", c.GUID)
	must("route", c.RouteName)
	must("created", c.Created.UTC().Format(time.RFC3339))
}

// checkCaseComputed refuses what the server computes if it is another value than the
// case has, unless the document is an older form of the case, which may well say what
// was so then.
func checkCaseComputed(root document.Value, h *loadedCase) {
	if v := root.Node.Get("version"); v != nil && v.Text != strconv.FormatInt(h.core.Version, 10) {
		return
	}
	keepFixed(root, func() []byte { return machine.Form(h.core, h.route.Compiled) }, []fixedMember{
		{"status", "perform an action that leads there; Actions/ of the case has those that are possible"},
		{"resolution", "an action sets it"},
		{"starter", ""},
		{"routeVersion", ""},
		{"parent", ""},
		{"parentAction", ""},
		{"scheduleUUID", ""},
		{"scheduledFor", ""},
		{"started", ""},
		{"completed", ""},
	})
}

// readTitle reads an optional title; null resets it. One that is as it was,
// which may be the route's, is right.
func readTitle(v document.Value, to *string) {
	switch {
	case v.Node == nil || v.Node.Kind == document.String && v.Node.Text == *to:
	case v.Node.Kind == document.Null:
		*to = ""
	default:
		if title, ok := schedule.ReadTitle(v); ok {
			*to = title
		}
	}
}

func (e *Cases) readPlain(root document.Value, h *loadedCase, ed *edit) {
	title := h.core.Title
	if readTitle(root.Get("title"), &title); title != h.core.Title {
		if title == "" {
			title = routeTitle(h.route.Compiled)
		}
		ed.Title = &title
	}
	if v := root.Get("priority"); v.Node != nil {
		priority := int64(h.route.Compiled.Priority)
		ok := true
		if v.Given() {
			priority, ok = v.Int(0, 65535)
		}
		if p := int(priority); ok && p != h.core.Priority {
			ed.Priority = &p
		}
	}
	if v := root.Get("xattrDict"); v.Node != nil {
		var dict label.Dict // null removes all
		if v.Given() {
			dict = merged(h.core.Xattrs, readChanges(v))
		}
		if !slices.Equal(dict, h.core.Xattrs) {
			ed.Xattrs = &dict
		}
	}
}

func (e *Cases) readRoleChange(root document.Value, h *loadedCase, ed *edit) {
	if v := root.Get("roles"); v.Node != nil {
		roles := e.readRoles(v, h.route.Compiled)
		same := slices.EqualFunc(roles, h.core.Roles, func(a, b machine.Players) bool {
			return a.Role == b.Role && slices.Equal(a.Parties, b.Parties)
		})
		if !same {
			ed.Roles = &roles
		}
	}
	if v := root.Get("stakeholders"); v.Node != nil {
		var list []string
		if v.Given() {
			list = e.partyNames(v)
		}
		if !slices.Equal(list, h.core.Stakeholders) {
			ed.Stakeholders = &list
		}
	}
}

func (e *Cases) readContextChange(by identity.Principal, root document.Value, h *loadedCase, ed *edit) error {
	var id int64
	if v := root.Get("contextId"); v.Given() {
		id, _ = v.Int(1, 1<<53-1)
	}
	name := readName(root.Get("context"))
	sameID := id == 0 || id == h.core.ContextID
	sameName := name == "" || identity.Fold(name) == identity.Fold(h.core.Context)
	if sameID && sameName {
		return nil
	}
	if id == h.core.ContextID && !sameName {
		id = 0 // the name alone was changed in a document that was read before
	} else if sameName {
		name = ""
	}
	party, err := e.contextRef(by, root, wantedContext{id: id, name: name, keeps: identity.ID(h.core.ContextID)})
	if err != nil {
		return err
	}
	if contextID := int64(party.ID); contextID != h.core.ContextID {
		ed.ContextID, ed.Context = &contextID, string(party.Name)
	}
	return nil
}

// mayEditXattr refuses a change of an XATTR, and says who may change it in this case.
func mayEditXattr(h *loadedCase, key string) error {
	x := h.route.Compiled.Xattr(key)
	if x == nil || x.Edit == nil {
		return errs.New(errs.NotAllowed, "The XATTR %q may be changed here by the case's starter, %s, and by the route's administrators.", key, h.core.Starter)
	}
	who := rolesOf(h, x.Edit)
	if who == "" {
		return errs.New(errs.NotAllowed, "The XATTR %q may be changed here by the route's administrators alone.", key)
	}
	return errs.New(errs.NotAllowed, "The XATTR %q may be changed here by %s, and by the route's administrators.", key, who)
}

// rolesOf names roles of a case, with who plays them.
func rolesOf(h *loadedCase, roles []string) string {
	var who []string
	for _, role := range roles {
		parties := "nobody"
		if list := h.core.RoleParties(role); len(list) > 0 {
			parties = strings.Join(list, ", ")
		}
		who = append(who, fmt.Sprintf("the role %q (%s)", role, parties))
	}
	return strings.Join(who, ", ")
}

// empty reports whether the edit changes nothing.
func (ed *edit) empty() bool {
	return ed.Title == nil && ed.Priority == nil && ed.ContextID == nil && ed.Roles == nil && ed.Stakeholders == nil &&
		ed.Xattrs == nil && ed.Remark == "" && ed.Relations == nil && ed.StartAt == nil && ed.life == nil
}

// judgeEdit checks the caller's rights to what the edit changes. Canceled cases
// and those in the archive are read-only, except for the edit that reopens a
// canceled one (docs/contract/drive.md#listings).
func (e *Cases) judgeEdit(req Request, h *loadedCase, ed *edit) error {
	by := req.By
	_, reopens := ed.life.(machine.Reopen)
	if h.core.Life == machine.Canceled && !reopens && !ed.empty() {
		return errs.New(errs.ReadOnly, "The case is canceled; it can be read, and an administrator of its route can reopen it by setting its state to active. Who canceled it can do so for %d minutes.", int(UndoCancel.Minutes()))
	}
	if err := notArchived(h.row); err != nil && h.core.Life != machine.Canceled && !ed.empty() {
		return err
	}
	if h.admin {
		return nil
	}
	starter := access.IsStarter(by, h.core)
	if reopens && h.core.Life == machine.Canceled && !(starter && mayUndoCancel(req, h.core)) {
		return errs.New(errs.NotAllowed, "Only the route's administrators may reopen a canceled case, and who canceled it within %d minutes.", int(UndoCancel.Minutes()))
	}
	if reopens && h.core.Life == machine.Failed {
		return errs.New(errs.NotAllowed, "Only the route's administrators may start a failed case again.")
	}
	if !starter && (ed.Title != nil || ed.Relations != nil || ed.Stakeholders != nil || ed.StartAt != nil || ed.life != nil) {
		return errs.New(errs.NotAllowed, "Only its starter and the route's administrators may change the case's title, links, stakeholders and startAt, suspend, resume or cancel it.")
	}
	if ed.Xattrs != nil {
		if key := machine.MayEdit(h.core, h.route.Compiled, ed.Actor, starter, *ed.Xattrs); key != "" {
			return mayEditXattr(h, key)
		}
	}
	if ed.Priority != nil || ed.ContextID != nil {
		return errs.New(errs.NotAllowed, "Only the route's administrators may change a case's priority and context.")
	}
	if ed.Roles == nil {
		return nil
	}
	for _, p := range *ed.Roles {
		if slices.Equal(p.Parties, h.core.RoleParties(p.Role)) {
			continue
		}
		if !starter || !e.mayAssign(h.route.Compiled, h.core, p.Role, p.Parties) {
			return errs.New(errs.RoleNotAssignable, "You may not choose these players for the role %q; leave it as it is, or ask the route's administrators.", p.Role)
		}
	}
	for _, p := range h.core.Roles {
		gone := !slices.ContainsFunc(*ed.Roles, func(q machine.Players) bool { return q.Role == p.Role })
		if def := h.route.Compiled.Role(p.Role); gone && (!starter || def == nil || len(def.Pick) == 0) {
			return errs.New(errs.RoleNotAssignable, "The field roles replaces all roles. You may not leave out the role %q; "+
				"give it as it is, or ask the route's administrators.", p.Role)
		}
	}
	return nil
}
