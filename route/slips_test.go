package route

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// TestSlips: words of other workflow languages are answered with those of this one.
func TestSlips(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ at, write, want string }{
		{"action", `when: "true"`, `/actions/go/when: is not a known field; did you mean "guard"? An action with, say, guard:`},
		{"action", `if: "true"`, `/actions/go/if: is not a known field; did you mean "guard"?`},
		{"action", `If: "true"`, `/actions/go/If: is not a known field; did you mean "guard"?`},
		{"action", `every: P1D`, `/actions/go/every: is not a known field; an action is performed by itself after its "timeout"`},
		{"action", `interval: 60`, `/actions/go/interval: is not a known field; an action is performed by itself`},
		{"action", `due: P1D`, `/actions/go/due: is not a known field; did you mean "dueIn"?`},
		{"action", `fourEyes: true`, `/actions/go/fourEyes: is not a known field; did you mean "distinct"? With distinct: [ask], the user`},
		{"action", `four_eyes: true`, `/actions/go/four_eyes: is not a known field; did you mean "distinct"?`},
		{"", `fourEyes: true`, `/fourEyes: is not a known field; did you mean "distinct" of an action?`},
		{"action", `guard: "amount > 5"`, `/actions/go/guard: 1:1: undeclared reference to 'amount'`},
		{"", `xattrs: {Amount: {type: number}}
sideEffects: [{if: amount > 5, warn: x}]`, `/sideEffects/0/if: 1:1: undeclared reference to 'amount'; did you mean xattr.amount?`},
		{"", `timers: {late: {limit: P1D}}
sideEffects: [{if: late == 5, warn: x}]`, `/sideEffects/0/if: 1:1: undeclared reference to 'late'; did you mean timers["late"]?`},
		{"action", `guard: case.status == mid`, `/actions/go/guard: 1:16: undeclared reference to 'mid'; a state is a text: "mid"`},
		{"action", `next: done`, `/actions/go/next: is not a known field; did you mean "to"?`},
		{"action", `type: approved`, `/actions/go/type: must be approve, deny, cancel, restart or resolve, not "approved"; did you mean "approve"?`},
		{"action", `type: auto`, `/actions/go/type: must be approve, deny, cancel, restart or resolve, not "auto"; that is a "trigger"`},
		{"action", `trigger: approve`, `/actions/go/trigger: must be user, init, auto, time or message, not "approve"; that is a "type"`},
		{"action", `from: [open]`, `/actions/go/from: is not a known field; the states in which an action can be performed are its in`},
		{"action", `titel: Go`, `/actions/go/titel: is not a known field; did you mean "title"?`},
		{"state", `final: true`, `/states/mid/final: is not a known field; did you mean "type: complete"?`},
		{"state", `type: end`, `/states/mid/type: must be start, normal, complete, denied, cancelled or failed, not "end"; did you mean "complete"?`},
		{"", `xattrs: {due: {type: date}}`, `/xattrs/due/type: must be string, number or boolean, not "date"; a date is a string: write type: string, format: date`},
		{"", `xattrs: {due: {type: DateTime}}`, `/xattrs/due/type: must be string, number or boolean, not "DateTime"; did you mean "string"? A date without a time is type: string, format: date`},
		{"", `xattrs: {to: {type: email}}`, `not "email"; did you mean "string"?`},
		{"", `xattrs: {days: {type: int}}`, `not "int"; did you mean "number"? A form can ask for a whole number`},
		{"", `xattrs: {price: {type: float}}`, `not "float"; did you mean "number"?`},
		{"", `xattrs: {ok: {type: bool}}`, `not "bool"; did you mean "boolean"?`},
		{"", `xattrs: {note: {type: text}}`, `not "text"; did you mean "string"?`},
		{"", `xattrs: {kind: {type: enum}}`, `not "enum"; what can be chosen is a string; where an action asks for it`},
		{"", `every: P1D`, `/every: is not a known field; when cases start by themselves is said by a schedule entry`},
		{"", `fields: {}`, `/fields: is not a known field; did you mean "xattrs"?`},
		{"", `access: {write: [sam]}`, `/access/write: is not a known field; did you mean "admin"?`},
		{"", `roles: {clerk: {members: [sam]}}`, `/roles/clerk/members: is not a known field; did you mean "assign"?`},
		{"action", `mail: {to: [starter]}`, `/actions/go/mail: is not a known field; that is a step; steps stand in a list, as onFire: [{mail: {…}}]`},
		{"action", `onPerform: []`, `/actions/go/onPerform: is not a known field; did you mean "onFire"`},
		{"action", `comment: required`, `/actions/go/comment: is not a known field; people may always add a comment; what they must give is asked for by a "form"`},
		{"action", `guard: case.starter == me`, `; who performs an action is actor`},
		{"action", `onFire: [{http: {url: "https://x.example", body: x}}]`, `/actions/go/onFire/0/http/body: is not a known field; did you mean "value"?`},
		{"action", `enabledIn: mid`, `/actions/go/enabledIn: must be a list, not a string: write [mid]`},
		{"", `xattrs: {supplier: {enum: [a]}}`, `/xattrs/supplier/enum: is not a known field; what can be chosen is said where an action asks for it, as form:`},
		{"", `roles: {clerk: {assign: starter}}`, `/roles/clerk/assign: must be a list, not a string: write [starter]`},
		{"", `roles: {clerk: {assign: [managers]}}`, `; write "team:managers" for a team and "user:managers" for a user`},
		{"", `roles: {clerk: {assign: [everybody]}}`, `; did you mean "everyone"?`},
		{"action", `onFire: [{warning: late}]`, `/actions/go/onFire/0/warning: is not a known field; did you mean "warn"?`},
		{"action", `onFire: {log: a}`, `/actions/go/onFire: must be a list, not an object: begin it with "- ", or put [ ] around it`},
		{"action", `need: 2`, `/actions/go/need: must be a string, not a number: write "2 of <role>"`},
		{"action", `resolutions: [fixed]`, `/actions/go/resolutions: must be an object, not a list: each has a name and what people read, as in {fixed: It is mended}`},
		{"action", `guard: now() > now`, `undeclared reference to 'now'; it is a variable: write now, without parentheses`},
		{"action", `guard: has(amount)`, `invalid argument to has() macro; has asks for a field, as in has(xattr.amount)`},
		{"action", `guard: not has(xattr.amount)`, `; write ! for not, as in !has(xattr.amount)`},
		{"action", `enabledIn: ["mid, done"]`, `"mid, done" is not a state of this route; several are a list: [mid, done]`},
		{"action", `form: {properties: [a]}`, `/actions/go/form/properties: must be an object, not a list`},
		{"action", `form: {properties: {a: {type: text}}}`, `/actions/go/form/properties/a/type: must be array, boolean, integer, null, number, object or string, not "text"; did you mean "string"?`},
		{"action", `form: {properties: {a: {type: datetime}}}`, `not "datetime"; a time is a string: write type: string, format: date-time`},
		{"action", `form: {properties: {a: {type: enum}}}`, `not "enum"; what can be chosen is a string: write type: string, enum: [Sit, Stand]`},
		{"action", `onFire: [{exec: {command: c, args: [{secret: tok}]}}]`, `is not a known field; a secret is put in only as url, headers and secret of http, and as to and text of mail; a command gets it by env of the setting commands`},
		{"", `timers: {late: {after: P1D}}`, `/timers/late/after: is not a known field; did you mean "limit"?`},
	} {
		in := map[string]string{tt.at: tt.write}
		text := "states: {open: {type: start}, mid: {" + in["state"] + "}, done: {type: complete}}\n" +
			"actions:\n  begin: {trigger: init}\n  go: {in: [open], allowed: [everyone], to: done" + strings.TrimSuffix(", "+in["action"], ", ") + "}\n" + in[""]
		node, err := document.ParseYAML([]byte(text))
		if err != nil {
			t.Fatal(text, err)
		}
		if _, _, err = Parse("x", node); err == nil || !strings.Contains(told(err), tt.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.write, told(err), tt.want)
		}
	}
}

// TestSlipsNameFields: what is advised can be written, and each word has one answer.
func TestSlipsNameFields(t *testing.T) {
	t.Parallel()
	meant := regexp.MustCompile(`"([A-Za-z]+)(: [a-z]+)?"`)
	for of, slips := range fieldSlips {
		known := keys(structure().node.At("$defs", of, "properties"))
		switch of {
		case "":
			known = append(keys(structure().node.Get("properties")), keys(structure().node.At("$defs", "action", "properties"))...)
		case "step":
			known = append(keys(structure().node.At("$defs", "step", "properties")), "timeout", "to")
		case "http":
			known = keys(structure().node.At("$defs", "step", "properties", "http", "properties"))
		case "access":
			known = keys(structure().node.At("properties", "access", "properties"))
		}
		seen := map[string]bool{}
		for words, says := range slips {
			for word := range strings.FieldsSeq(words) {
				if seen[word] || word != strings.ToLower(word) || of != "" && slices.Contains(known, word) {
					t.Errorf("%q of %q is there twice, has capitals, or is a field", word, of)
				}
				seen[word] = true
			}
			question, _, _ := strings.Cut(says, "?")
			for _, m := range meant.FindAllStringSubmatch(question, -1) {
				if !slices.Contains(known, m[1]) && m[1] != "type" && m[1] != "trigger" {
					t.Errorf("%q of %q is answered with %q, which is not a field", words, of, m[1])
				}
			}
		}
	}
}

func told(err error) string {
	e, ok := errors.AsType[*errs.Error](err)
	if !ok {
		return ""
	}
	var out []string
	for _, f := range e.Faults {
		out = append(out, f.Pointer+": "+f.Detail)
	}
	return strings.Join(out, "\n")
}
