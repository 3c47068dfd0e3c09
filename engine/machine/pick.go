package machine

import (
	"slices"

	"flowdrive/route"
)

// Picks reports whether the pick rules of the role allow a starter to put all the
// parties into it (docs/contract/drive.md#rights-table). belongs reports whether
// two parties are the same, or the first one belongs to the second.
func Picks(r *route.Route, c *Case, role string, parties []string, belongs func(party, to string) bool) bool {
	def := r.Role(role)
	return def != nil && !slices.ContainsFunc(parties, func(party string) bool {
		return !slices.ContainsFunc(def.Pick, func(rule route.Rule) bool { return picks(rule, r, c, party, belongs) })
	})
}

// picks reports whether a pick rule names the party or a team that it belongs to.
func picks(rule route.Rule, r *route.Route, c *Case, party string, belongs func(party, to string) bool) bool {
	among := func(list []string) bool {
		return slices.ContainsFunc(list, func(one string) bool { return belongs(party, one) })
	}
	switch rule.Kind {
	case route.RuleEveryone:
		return true
	case route.RuleStarter:
		return belongs(party, c.Starter)
	case route.RuleUser, route.RuleTeam:
		return belongs(party, rule.Arg)
	case route.RuleRole:
		return among(c.RoleParties(rule.Arg))
	case route.RuleStakeholders:
		return party == PartyStakeholders || among(c.Stakeholders)
	case route.RuleAdmins:
		return party == PartyAdmins || among(r.Access.Admin)
	case route.RuleXattr:
		v, ok := c.Xattrs.Get(rule.Arg)
		return ok && belongs(party, v.Text)
	case route.RuleParent: // a case that a person starts has no parent
	case route.RuleCall: // not allowed in pick
	}
	return false
}
