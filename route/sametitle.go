package route

import (
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/label"
)

// titles warns of tasks that have the same title, so that people who have both cannot tell
// them apart, and of labels in texts in which nothing replaces them.
func (w *warner) titles() {
	r := w.route
	for i := range r.Actions {
		a := &r.Actions[i]
		if a.Trigger != TriggerUser {
			continue
		}
		for j := range i {
			other := &r.Actions[j]
			if other.Trigger == TriggerUser && strings.EqualFold(strings.TrimSpace(a.Title), strings.TrimSpace(other.Title)) && r.sameTime(a, other) && samePeople(a, other) {
				at := w.action(i).Get("title")
				if !at.Given() {
					at = w.action(i)
				}
				w.warn(at, "%q has the same title, and the same people can have both at the same time: they cannot tell them apart", other.Name)
				break
			}
		}
	}
	w.plainTexts()
}

// sameTime reports whether both actions can be enabled in one state, and neither waits for
// the other.
func (r *Route) sameTime(a, b *Action) bool {
	if r.Model == Dependency {
		waits := func(a, b *Action) bool {
			return slices.ContainsFunc(a.After, func(after After) bool { return r.Actions[after.Action].Name == b.Name })
		}
		return !waits(a, b) && !waits(b, a)
	}
	if a.Guard != nil || b.Guard != nil || a.EnableIf != nil || b.EnableIf != nil {
		return false // one may be there in place of the other
	}
	for state := range r.States {
		if a.In.Has(state) && b.In.Has(state) {
			return true
		}
	}
	return false
}

// samePeople reports whether both are tasks of one role.
func samePeople(a, b *Action) bool {
	return slices.ContainsFunc(a.Roles, func(role string) bool { return slices.Contains(b.Roles, role) })
}

// plainTexts warns of labels in titles and descriptions.
func (w *warner) plainTexts() {
	look := func(of document.Value, keys ...string) {
		for _, key := range keys {
			w.plainText(of.Get(key))
		}
	}
	each := func(of document.Value, keys ...string) {
		if isKind(of, document.Object) {
			for i := range of.Node.Members {
				_, member := of.Member(i)
				look(member, keys...)
			}
		}
	}
	look(w.root, "title", "description")
	each(w.root.Get("actions"), "title", "past", "description")
	each(w.root.Get("states"), "title")
	each(w.root.Get("roles"), "title")
	each(w.root.Get("xattrs"), "title")
}

func (w *warner) plainText(v document.Value) {
	text, is := str(v)
	if !is || !strings.Contains(text, "$") {
		return
	}
	written := ""
	if refs := label.References(text); len(refs) > 0 {
		written = refs[0].Written
	} else if start, end := label.ScanMessage(text); start < end {
		if name := strings.Trim(text[start:end], "$;"); slices.Contains(w.knownMessages(), name) {
			written = text[start:end]
		}
	}
	if written != "" {
		w.warn(v, "%s stays as it is written: labels are replaced in the texts of steps, such as title, log and mail, and not here", written)
	}
}
