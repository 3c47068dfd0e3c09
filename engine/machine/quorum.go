package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
)

// Vote is that a player of a role has performed an action which needs several
// (docs/contract/routes.md#quorum).
type Vote struct {
	By  string    `json:"b"`
	For string    `json:"f,omitempty"` // on whose behalf, "" for none
	At  time.Time `json:"at"`
}

// counts returns the user for whom the vote counts.
func (v *Vote) counts() string {
	if v.For != "" {
		return v.For
	}
	return v.By
}

// votedBy reports whether the user has voted, or somebody on their behalf.
func (e *Enabled) votedBy(name string) bool {
	return slices.ContainsFunc(e.Votes, func(v Vote) bool { return sameName(v.By, name) || v.For != "" && sameName(v.For, name) })
}

// vote counts the performance of an action that needs several. It reports whether
// there are enough; else the vote is kept. Nobody has a hand in two votes: neither
// the user who performs, nor the one on whose behalf.
func (d personal) vote(place int, p performance, e Perform) (enough bool, err error) {
	task, a := &d.c.Enabled[place], &d.route.Actions[p.action]
	behalf, plays := e.Actor.assignee(d.c, d.status, a, task)
	if !plays {
		return false, errs.New(errs.NotAllowed, "%q needs %d of the role %q; only its players count. Administrators of the route may skip it.", a.Name, a.Need.Count, a.Need.Role)
	}
	if err := d.dropLeft(place); err != nil {
		return false, err
	}
	for _, name := range []string{e.Actor.Name, behalf} {
		if name != "" && task.votedBy(name) {
			return false, errs.New(errs.FourEyes, "%q needs %d different users; %s counts already: %s. {\"do\": \"release\"} takes that back.", a.Name, a.Need.Count, name, quorum(a, task).Text())
		}
	}
	if len(task.Votes)+1 >= a.Need.Count {
		return true, nil
	}
	task.Votes = append(slices.Clip(task.Votes), Vote{By: e.Actor.Name, For: behalf, At: d.now})
	for _, x := range e.Xattrs {
		d.change(x)
	}
	d.taskLog(place, e.Actor, behalf, fmt.Sprintf("%s: %d of %d", past(a), len(task.Votes), a.Need.Count), e.Comment)
	return false, nil
}

// dropLeft removes the votes of users who do not play the role any more.
func (d personal) dropLeft(place int) error {
	task, a := &d.c.Enabled[place], &d.route.Actions[d.actions[place]]
	var kept []Vote
	for _, v := range task.Votes {
		plays, err := d.stillPlays(a, task, v.counts())
		if err != nil {
			return err
		}
		if plays {
			kept = append(kept, v)
			continue
		}
		d.changed = true
		d.add(LogEntry{Kind: LogTask, Action: new(a.Name), Text: fmt.Sprintf("%s does not count any more: not in the role %s", v.counts(), a.Need.Role)})
	}
	task.Votes = kept
	return nil
}

// stillPlays reports whether the user is one of those to whom the task is offered.
func (d personal) stillPlays(a *route.Action, e *Enabled, name string) (bool, error) {
	for _, party := range assignees(d.c, d.status, a, e) {
		if sameName(party, name) || party == PartyAdmins || party == string(identity.Everyone) {
			return true, nil
		}
		members, known := d.facts.Members[party]
		if !known {
			d.need(Need{Members: party})
			continue
		}
		if slices.ContainsFunc(members, func(member string) bool { return sameName(member, name) }) {
			return true, nil
		}
	}
	if len(d.needs) > 0 {
		return false, errAbsent
	}
	return false, nil
}

// neededByQuorum refuses that a user rejects an action that needs several, if too few
// would be left to perform it.
func (d personal) neededByQuorum(a *route.Action, e *Enabled, name string) error {
	if a.Need == nil {
		return nil
	}
	var left []string
	for _, party := range assignees(d.c, d.status, a, e) {
		if party == PartyAdmins || party == string(identity.Everyone) {
			return nil
		}
		members, known := d.facts.Members[party]
		if !known {
			d.need(Need{Members: party})
			continue
		}
		for _, member := range members {
			counted := slices.ContainsFunc(left, func(one string) bool { return sameName(one, member) })
			if !counted && !sameName(member, name) && !e.rejectedBy(member) {
				left = append(left, member)
			}
		}
	}
	if len(d.needs) > 0 {
		return errAbsent
	}
	if len(left) >= a.Need.Count {
		return nil
	}
	refusal := errs.New(errs.ActionNotEnabled, "%q needs %d of the role %q, and without you there would be %d. Perform it, or ask an administrator of the route to give the role to somebody else or to skip it.",
		a.Name, a.Need.Count, a.Need.Role, len(left))
	refusal.Extra = map[string]any{"enabled": enabledFor(d.c, d.route, people)}
	return refusal
}

// takeBack removes the vote of the actor from an action that needs several.
func (d personal) takeBack(place int, e Release) error {
	task, a := &d.c.Enabled[place], &d.route.Actions[d.actions[place]]
	at := slices.IndexFunc(task.Votes, func(v Vote) bool { return sameName(v.By, e.Actor.Name) || v.For != "" && sameName(v.For, e.Actor.Name) })
	if at < 0 {
		return errs.New(errs.ActionNotEnabled, "You have not performed %q: %s.", a.Name, quorum(a, task).Text())
	}
	task.Votes = nilIfEmpty(slices.Delete(slices.Clone(task.Votes), at, at+1))
	d.taskLog(place, e.Actor, "", fmt.Sprintf("Took back %s: %d of %d", title(a), len(task.Votes), a.Need.Count), e.Comment)
	return d.bringToRest()
}

// notByOne refuses to give an action to one user that needs several.
func (d personal) notByOne(place int) error {
	a := &d.route.Actions[d.actions[place]]
	if a.Need == nil {
		return nil
	}
	refusal := errs.New(errs.ActionNotEnabled, "%q needs %d of the role %q; it cannot be accepted by one or delegated to one. Perform it.", a.Name, a.Need.Count, a.Need.Role)
	refusal.Extra = map[string]any{"enabled": enabledFor(d.c, d.route, people)}
	return refusal
}

// appendNeed appends how many have performed an action that needs several; null for
// others.
func appendNeed(b []byte, key string, a *route.Action, e *Enabled) []byte {
	b = append(b, key...)
	q := quorum(a, e)
	if q == nil {
		return append(b, "null"...)
	}
	b = appendInt(b, `{"count":`, int64(q.Count))
	b = document.AppendString(append(b, `,"of":`...), q.Of)
	b = appendInt(b, `,"given":`, int64(len(q.By)))
	return append(appendStrings(b, `,"by":`, q.By), '}')
}

// Quorum is how far an action is that several must perform.
type Quorum struct {
	Count int      // how many must
	Of    string   // of which role
	By    []string // who has
}

// quorum returns how far the action is, nil if it needs one alone.
func quorum(a *route.Action, e *Enabled) *Quorum {
	if a.Need == nil {
		return nil
	}
	q := &Quorum{Count: a.Need.Count, Of: a.Need.Role, By: make([]string, len(e.Votes))}
	for i := range e.Votes {
		q.By[i] = e.Votes[i].counts()
	}
	return q
}

// Text says it in words, as "1 of 2 (ann)".
func (q *Quorum) Text() string {
	text := fmt.Sprintf("%d of %d", len(q.By), q.Count)
	if len(q.By) > 0 {
		text += " (" + strings.Join(q.By, ", ") + ")"
	}
	return text
}
