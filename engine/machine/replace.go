package machine

import (
	"slices"

	"flowdrive/internal/label"
	"flowdrive/route"
)

// A case keeps users and teams by their names, because its log, its expressions
// and its route do. So whoever renames a party, or hands over what it has to
// another one, has the names replaced in the cases (docs/contract/drive.md#renaming).

// Names reports whether the case gives the user or team of that name any right or
// duty: it is context, starter, player or stakeholder, has or had a task that is
// still enabled, is named by an XATTR that a role is assigned by, or, while the case
// is open, has performed what others must not (docs/contract/routes.md#distinct-performers).
func Names(c *Case, r *route.Route, name string) bool {
	found := false
	eachName(c, r, func(to *string) { found = found || sameName(*to, name) })
	if c.Life.Ended() && c.Life != Completed {
		return found
	}
	for i := range c.Performed {
		p := &c.Performed[i]
		found = found || sameName(p.By, name) || sameName(p.For, name)
	}
	return found
}

// eachName calls f for each place of a case where a party is named, except those
// that only say who did something. It may change the name.
func eachName(c *Case, r *route.Route, f func(name *string)) {
	each := func(list []string) {
		for i := range list {
			f(&list[i])
		}
	}
	f(&c.Context)
	f(&c.Starter)
	each(c.Stakeholders)
	for i := range c.Roles {
		each(c.Roles[i].Parties)
	}
	for i := range c.Enabled {
		o := &c.Enabled[i].Offer
		f(&o.By)
		f(&o.For)
		f(&o.To)
		f(&o.Giver)
		each(o.Rejected)
		for j := range c.Enabled[i].Votes {
			f(&c.Enabled[i].Votes[j].By)
			f(&c.Enabled[i].Votes[j].For)
		}
	}
	for _, key := range assigningXattrs(r) {
		for i := range c.Xattrs {
			if c.Xattrs[i].Key == key {
				f(&c.Xattrs[i].Value.Text)
			}
		}
	}
}

// assigningXattrs returns the keys of the XATTRs by which the route assigns roles.
func assigningXattrs(r *route.Route) (keys []string) {
	for i := range r.Roles {
		for _, rule := range slices.Concat(r.Roles[i].Assign, r.Roles[i].Pick) {
			if rule.Kind == route.RuleXattr && !slices.Contains(keys, rule.Arg) {
				keys = append(keys, rule.Arg)
			}
		}
	}
	return keys
}

// Replace returns the case with the name of one party in place of another's, in
// all places, also in those that say who did something: rules about them go on to
// hold. Nobody is in a list twice. It reports whether that has changed anything.
// If what one party has is handed over to another one, the case keeps who started it
// and who performed its actions, for people to see. The case is not brought to rest: its
// roles have as many players as before.
func Replace(c *Case, r *route.Route, from, to string, handedOver bool) (after *Case, changed bool) {
	out := c.clone()
	if handedOver {
		out.keepActors(from)
	}
	out.Stakeholders = slices.Clone(c.Stakeholders)
	out.Xattrs = slices.Clone(label.Dict(c.Xattrs))
	out.Roles = slices.Clone(c.Roles)
	for i := range out.Roles {
		out.Roles[i].Parties = slices.Clone(out.Roles[i].Parties)
	}
	for i := range out.Enabled {
		out.Enabled[i].Rejected = slices.Clone(out.Enabled[i].Rejected)
		out.Enabled[i].Votes = slices.Clone(out.Enabled[i].Votes)
	}
	replace := func(name *string) {
		if *name != "" && *name != to && sameName(*name, from) {
			*name, changed = to, true
		}
	}
	eachName(out, r, replace)
	if out.Moved != nil {
		moved := *out.Moved
		replace(&moved.By)
		replace(&moved.GivenUpBy)
		out.Moved = &moved
	}
	if out.Remark != nil {
		remark := *out.Remark
		replace(&remark.By)
		out.Remark = &remark
	}
	for i := range out.Performed {
		replace(&out.Performed[i].By)
		replace(&out.Performed[i].For)
	}
	for i := range out.Written {
		replace(&out.Written[i].By)
	}
	if !changed {
		return c, false
	}
	out.Stakeholders = nilIfEmpty(parties(out.Stakeholders))
	for i := range out.Roles {
		out.Roles[i].Parties = parties(out.Roles[i].Parties)
	}
	for i := range out.Enabled {
		o := &out.Enabled[i].Offer
		if o.Rejected = nilIfEmpty(parties(o.Rejected)); sameName(o.By, o.For) {
			o.For = "" // who stood in for the other acts on their own now
		}
	}
	return out, true
}

// keepActors keeps that a party has started the case and performed its actions, before
// another one takes its place.
func (c *Case) keepActors(name string) {
	if c.StartedBy == "" && sameName(c.Starter, name) {
		c.StartedBy = c.Starter
	}
	for i := range c.Performed {
		if p := &c.Performed[i]; p.Named == "" && sameName(p.By, name) {
			p.Named = p.By
		}
	}
}

// Forget returns the case without the name of somebody who is erased, in the places that
// Replace leaves as they are: who has done something before it was handed over, and
// texts, which reword writes again. It reports whether that has changed anything.
func Forget(c *Case, from, to string, reword func(text string) string) (after *Case, changed bool) {
	out := c.clone()
	replace := func(name *string) {
		if *name != "" && sameName(*name, from) {
			*name, changed = to, true
		}
	}
	again := func(text *string) {
		if now := reword(*text); now != *text {
			*text, changed = now, true
		}
	}
	replace(&out.StartedBy)
	for i := range out.Performed {
		replace(&out.Performed[i].Named)
	}
	again(&out.Title)
	out.Warnings = slices.Clone(out.Warnings)
	for i := range out.Warnings {
		again(&out.Warnings[i].Text)
	}
	for i := range out.Enabled {
		again(&out.Enabled[i].Fault)
	}
	if out.Moved != nil {
		moved := *out.Moved
		again(&moved.Text)
		out.Moved = &moved
	}
	if out.Remark != nil {
		remark := *out.Remark
		again(&remark.Text)
		out.Remark = &remark
	}
	if out.Broken != nil {
		broken := *out.Broken
		again(&broken.Fault)
		out.Broken = &broken
	}
	if !changed {
		return c, false
	}
	return out, true
}

// HandedOver notes in the log of a case that another party has what one had, and
// returns the entry.
func HandedOver(c *Case, actor, text string) LogEntry {
	c.LogSeq++
	c.Version++
	c.Revision++
	return LogEntry{Seq: c.LogSeq, Time: c.Modified, Kind: LogRoles, Actor: new(actor), Trigger: new(ByUser), Text: text}
}
