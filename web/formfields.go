package web

import (
	"net/url"
	"slices"
	"strings"

	"flowdrive/internal/errs"
)

// The fields of a form, by name with blanks between them: what it does not have is refused,
// as the drive refuses an unknown member of a document. A name that ends in ".*" stands for
// all that begin so, one with "+" may be there several times, and one with "?" is true or
// false.

// fieldsOfAll are those of every form, and what browsers add if they are asked to.
const fieldsOfAll = "do key show _charset_"

// taskFields are the fields of what can be done with tasks.
func taskFields() map[string]string {
	const one = "case action comment"
	out := map[string]string{
		"several": "each select+ comment", "perform": one + " resolution x.* xattrDict.*", "delegate": one + " to", "skip": one + " output",
	}
	for do := range taskForms() {
		if out[do] == "" {
			out[do] = one
		}
	}
	return out
}

// commandFields are those of the page of a case.
func commandFields() map[string]string {
	out := taskFields()
	delete(out, "several")
	for _, c := range caseCommands() {
		out[c.do] = c.field
	}
	for _, e := range caseEdits() {
		out[e.do] = e.fields
	}
	out["timer"], out["attach"], out["watch"], out["unwatch"] = "timer limit", inputField+" "+inputNameField, "", ""
	return out
}

func accountFields() map[string]string {
	return map[string]string{
		"me": "fullName email", "confirm": "emailCode", "deputy": "user from to", "watch": "watch+", "zone": "timezone",
		"mail": "kinds+ digest from to notify?", "password": "oldPassword password again",
		"look": "theme keys?", "end": "session", "end-others": "",
	}
}

func adminFields() map[string]string {
	const user, team = "name fullName email password admin? disabled? revoke?", "name members admins"
	return map[string]string{
		"user": user, "user-add": user, "user-factor": "name", "user-delete": "name handOver", "team": team, "team-add": team, "team-delete": "name handOver",
		"hold": "name route group engine? reason", "letgo": "name",
	}
}

func documentFields() map[string]string {
	return map[string]string{
		"folder": "folder", "rename": "name to", "move": "name to", "copy": "name to", "delete": "name", "unlock": "name", "restore": "name to", "purge": "name",
	}
}

func mountFields() map[string]string {
	return map[string]string{"device": "label scope expires", "calendar": "label", "revoke": "name", "revoke-link": "name"}
}

// storeEntryFields are those of the form of an entry.
func storeEntryFields() map[string]string {
	return map[string]string{"store": strings.Replace(strings.Join(entryFieldNames(), " "), "paused", "paused?", 1) + " match"}
}

// entryCommandFields are those of the page of an entry.
func entryCommandFields() map[string]string {
	out := map[string]string{}
	for _, c := range entryCommands() {
		var names []string
		if c.fields != nil {
			for _, f := range c.fields() {
				names = append(names, f.Name)
			}
		}
		out[c.do] = strings.Join(names, " ")
	}
	return out
}

// checkFields refuses what a form does not have, and what can be meant in two ways, before
// anything is done.
func checkFields(fields string, v url.Values) error {
	known := strings.Fields(fields + " " + fieldsOfAll)
	for _, name := range sortedKeys(v) {
		i := slices.IndexFunc(known, func(k string) bool {
			k = strings.TrimRight(k, "+?")
			if start, all := strings.CutSuffix(k, "*"); all {
				return len(name) > len(start) && strings.HasPrefix(name, start)
			}
			return k == name
		})
		switch {
		case i < 0:
			return errs.New(errs.Invalid, "The form has no field %q. Nothing was done.", errs.Clip(name, 60))
		case len(v[name]) > 1 && !strings.HasSuffix(known[i], "+"):
			return errs.New(errs.Invalid, "The field %q is there more than once. Nothing was done.", errs.Clip(name, 60))
		case strings.HasSuffix(known[i], "?") && !slices.Contains([]string{"", "true", "false"}, v.Get(name)):
			return errs.New(errs.Invalid, "The field %q is true or left out, not %q. Nothing was done.", name, errs.Clip(v.Get(name), 60))
		}
	}
	return nil
}
