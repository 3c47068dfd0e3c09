package machine

import (
	"slices"
	"strings"

	"flowdrive/internal/document"
	"flowdrive/route"
)

// FillRoles assigns players to the roles that have none, because there is a user or team
// now that there was not before (docs/contract/routes.md#assignment).
type FillRoles struct{}

func (FillRoles) event() {}

// fillRoles assigns the roles, and says in the log who plays them.
func (d personal) fillRoles() error {
	if d.c.Life != Active || d.c.suspended() {
		return nil
	}
	before := slices.Clone(d.c.Roles)
	if err := d.assignRoles(); err != nil {
		return err
	}
	for _, now := range d.c.Roles {
		if !slices.ContainsFunc(before, func(p Players) bool { return p.Role == now.Role }) {
			d.add(LogEntry{Kind: LogRoles, Text: "Assigned " + now.Role + ": " + strings.Join(now.Parties, ", ")})
		}
	}
	return d.bringToRest()
}

// MayBeFilledBy reports whether a role of the case that has no players may get some
// because there is a user or team of that name.
func (c *Case) MayBeFilledBy(r *route.Route, party string) bool {
	for i := range r.Roles {
		role := &r.Roles[i]
		if len(c.RoleParties(role.Name)) > 0 || slices.Contains(c.Mapped, role.Name) {
			continue
		}
		if slices.ContainsFunc(role.Assign, func(rule route.Rule) bool { return c.mayMean(rule, party) }) {
			return true
		}
	}
	return false
}

// mayMean reports whether a rule may yield a party because there is that one.
func (c *Case) mayMean(rule route.Rule, party string) bool {
	switch rule.Kind {
	case route.RuleUser, route.RuleTeam:
		return sameName(rule.Arg, party)
	case route.RuleXattr:
		v, ok := c.Xattrs.Get(rule.Arg)
		return ok && (v.Kind == document.String || v.Kind == document.Number) && sameName(v.Text, party)
	case route.RuleParent:
		return c.Parent != 0 // the role of the parent may have been filled just now
	case route.RuleCall:
		return true
	default: // these yield a party at once, or another role that is looked at itself
		return false
	}
}
