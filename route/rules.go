package route

import (
	"fmt"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/label"
)

// The forms that texts of a route have, as messages need them.
const (
	nameForm     = "a name: a letter or digit, then up to 62 letters, digits, _ or -"
	durationForm = "a duration in weeks, days, hours, minutes, seconds such as P3D or PT5M, or whole seconds"
	ruleForm     = "starter, everyone, stakeholders, admins, user:<name>, team:<name>, role:<name>, parent:<role>, xattr:<key> or call:<name>"
	allowedForm  = "a role of the route, user:<name>, team:<name>, everyone or readers"
)

// isName reports whether the text can name an action, state, role or label (docs/contract/drive.md#legal-names).
func isName(text string) bool {
	if text == "" || len(text) > 63 || text[0] == '_' || text[0] == '-' {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// isParty notes a fault if the text cannot be the name of a user or team, as the word
// before it says.
func (c *compiler) isParty(v document.Value, word, name string) bool {
	kind := identity.Kind(word)
	if !identity.LegalParty(kind, name) {
		v.Fail(errs.CodeFormat, "after %s: must be the name of a %s, not %q: %s", word, word, clip(name), identity.NameForm(kind))
		return false
	}
	return true
}

// rules reads the rules of a role.
func (c *compiler) rules(v document.Value) []Rule {
	if !isKind(v, document.List) {
		return nil
	}
	var out []Rule
	for i := range v.Node.Items {
		if rule, ok := c.rule(v.Item(i)); ok {
			out = append(out, rule)
		}
	}
	return out
}

func (c *compiler) rule(v document.Value) (Rule, bool) {
	text, ok := str(v)
	if !ok {
		return Rule{}, false
	}
	word, arg, hasArg := strings.Cut(text, ":")
	rule := Rule{Kind: RuleKind(word), Arg: arg}
	switch rule.Kind {
	case RuleStarter, RuleEveryone, RuleStakeholders, RuleAdmins:
		if hasArg {
			v.Fail(errs.CodeFormat, "%s takes nothing after it, not %q", word, clip(text))
			return Rule{}, false
		}
	case RuleUser, RuleTeam:
		if !c.isParty(v, word, arg) {
			return Rule{}, false
		}
		rule.Arg = c.party(v, arg)
	case RuleCall, RuleParent:
		if !isName(arg) {
			v.Fail(errs.CodeFormat, "after %s: must be %s, not %q", word, nameForm, clip(arg))
			return Rule{}, false
		}
		if rule.Kind == RuleCall {
			c.reach(ReachCallback, arg, v)
		}
	case RuleRole:
		if !c.isRole(v, arg) {
			return Rule{}, false
		}
	case RuleXattr:
		key, err := label.NormalizeKey(arg)
		if err != nil {
			v.Fail(errs.CodeFormat, "%s", err)
			return Rule{}, false
		}
		rule.Arg = key
		c.use(use{kind: useKey, at: v, name: key})
	default:
		v.Fail(errs.CodeFormat, "must be %s, not %q%s", ruleForm, clip(text), c.ruleHint(text))
		return Rule{}, false
	}
	return rule, true
}

// ruleHint guesses what an invalid rule was meant to be.
func (c *compiler) ruleHint(text string) string {
	if c.roles[text] {
		return "; did you mean \"role:" + text + "\"?"
	}
	hint := everyoneSlips.Hint(text, nil)
	if hint != "" {
		return fmt.Sprintf("; did you mean %q?", everyone)
	}
	if hint = document.Hint(text, []string{"starter", "everyone", "stakeholders", "admins"}); hint == "" && identity.LegalParty(identity.Team, text) {
		hint = fmt.Sprintf("; write %q for a team and %q for a user", "team:"+text, "user:"+text)
	}
	return hint
}

// isRole notes a fault if the route has no role of that name.
func (c *compiler) isRole(v document.Value, name string) bool {
	if c.roles == nil || c.roles[name] {
		return true
	}
	c.unknown(v, "%q is not a role of this route", name, sortedKeys(c.roles))
	return false
}

// allowed reads who may perform an action although it is not assigned to them.
func (c *compiler) allowed(v document.Value) []Allowed {
	var out []Allowed
	for _, item := range oneOrMore(v) {
		if a, ok := c.oneAllowed(item); ok {
			out = append(out, a)
		}
	}
	return out
}

func (c *compiler) oneAllowed(v document.Value) (Allowed, bool) {
	text, ok := str(v)
	if !ok {
		return Allowed{}, false
	}
	if k := AllowedKind(text); k == AllowedEveryone || k == AllowedReaders {
		return Allowed{Kind: k}, true
	}
	word, name, prefixed := strings.Cut(text, ":")
	if !prefixed {
		if c.roles != nil && !c.roles[text] {
			c.unknown(v, "must be "+allowedForm+", and %q is not one", text, append(sortedKeys(c.roles), "everyone", "readers"))
			return Allowed{}, false
		}
		return Allowed{Kind: AllowedRole, Name: text}, true
	}
	k := AllowedKind(word)
	if k != AllowedUser && k != AllowedTeam {
		v.Fail(errs.CodeFormat, "must be %s, not %q", allowedForm, clip(text))
		return Allowed{}, false
	}
	if !c.isParty(v, word, name) {
		return Allowed{}, false
	}
	return Allowed{Kind: k, Name: c.party(v, name)}, true
}

// Party is a user, team or route that a route names.
type Party struct {
	Name    string
	Instead string // what may be meant if there is no such user or team, as role:<name>; "" for nothing
	Pointer string
	Line    int
	Column  int
}

// Parties returns the users and teams that the document names, in its order.
// The caller checks that they exist.
func (r *Route) Parties() []Party { return r.parties }

// party notes that the document names a user or team, and returns the name of
// whom it means.
func (c *compiler) party(v document.Value, name string) string { return c.partyOr(v, name, "") }

// partyOr is party for a name that may be meant to be something else.
func (c *compiler) partyOr(v document.Value, name, instead string) string {
	name = c.meant.Party(name)
	c.route.parties = append(c.route.parties, Party{Name: name, Instead: instead, Pointer: v.Pointer, Line: v.Node.Line, Column: v.Node.Column})
	return name
}

// insteadOf returns the recipient that a bare name may be meant to be: a role, or an
// XATTR that is declared; "" for neither.
func (c *compiler) insteadOf(name string) string {
	for _, role := range sortedKeys(c.roles) {
		if strings.EqualFold(role, name) {
			return string(RecipientRole) + ":" + role
		}
	}
	if key, err := label.NormalizeKey(name); err == nil && c.route.Xattr(key) != nil {
		return string(RecipientXattr) + ":" + key
	}
	return ""
}
