package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"flowdrive/engine/change"
	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// leaving finds what a user who is about to be disabled leaves to others
// (docs/contract/drive.md#a-user-who-is-disabled).
type leaving struct {
	*decider
	store.Reader
	req  change.Request
	user *store.Party
}

// PartyLeaves implements account.Ties.
func (e *base) PartyLeaves(ctx context.Context, req change.Request, p *store.Party) (left []string, err error) {
	err = e.Store.View(ctx, func(r store.Reader) error {
		l := &leaving{&decider{e}, r, req, p}
		left = nil
		for _, find := range []func() ([]string, error){l.cases, l.entries, l.hooks, l.people} {
			some, err := find()
			if err != nil {
				return err
			}
			left = append(left, some...)
		}
		return nil
	})
	return left, err
}

// cases says which tasks are given back, and what nobody else can do.
func (l *leaving) cases() (out []string, err error) {
	ids, err := l.caseIDs()
	if err != nil {
		return nil, err
	}
	var tasks int
	var back, alone []string
	for _, id := range ids {
		row, err := store.OrNil(l.Cases().Get(id))
		if err != nil {
			return nil, err
		}
		if row == nil || row.Archived != 0 {
			continue
		}
		h, err := l.loadRow(l, l.req.By, row, nil)
		if err != nil {
			return nil, err
		}
		if h.core.Life.Ended() {
			continue
		}
		without, n := h.core.WithoutTasksOf(string(l.user.Name))
		if n > 0 {
			tasks += n
			back = append(back, fmt.Sprint(id))
		}
		if h.core.Life == machine.Active && l.needs(without, h.route.Compiled) {
			alone = append(alone, fmt.Sprint(id))
		}
	}
	if tasks > 0 {
		verb := "go back to their roles"
		if tasks == 1 {
			verb = "goes back to its role"
		}
		out = append(out, fmt.Sprintf("%s that %s has accepted or was delegated %s: %s.", english.Plural(tasks, "task", ""), l.user.Name, verb, caseNumbers(back)))
	}
	if len(alone) > 0 {
		verb := "wait"
		if len(alone) == 1 {
			verb = "waits"
		}
		out = append(out, fmt.Sprintf("%s %s for %s, and too few others can do the task: %s. Give its role to somebody else, or somebody else to its team.", english.Plural(len(alone), "case", ""), verb, l.user.Name, caseNumbers(alone)))
	}
	if len(ids) == mostLeft {
		out = append(out, fmt.Sprintf("only the first %d cases with tasks for %s or a team of theirs were looked at.", mostLeft, l.user.Name))
	}
	return out, nil
}

// mostLeft is how many cases are looked at: to disable a user must not take long.
const mostLeft = 1000

// caseIDs returns the first cases with tasks of the user, or of a team of theirs.
func (l *leaving) caseIDs() (ids []int64, err error) {
	rows, err := l.Cases().Tasks().WithTasks(store.TaskFilter{
		Lists: machine.OnOffered | machine.OnAccepted, Parties: l.withTeams([]identity.ID{l.user.ID}), Routes: l.allRoutes(), Limit: mostLeft,
	})
	for i := range rows {
		ids = append(ids, rows[i].ID)
	}
	return ids, err
}

// needs reports whether a task of the case has enough users who can do it, and too few
// without this one.
func (l *leaving) needs(c *machine.Case, r *route.Route) bool {
	return slices.ContainsFunc(machine.StaffedTasks(c, r), func(task machine.Unstaffed) bool {
		if l.staff(c, task) < task.Need {
			return false
		}
		task.Without = append(slices.Clip(task.Without), string(l.user.Name))
		return l.staff(c, task) < task.Need
	})
}

// entries says which schedule entries create no cases any more.
func (l *leaving) entries() ([]string, error) {
	all, err := l.Entries().List(store.EntryFilter{Contexts: []identity.ID{l.user.ID}})
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range all {
		if all[i].Due.IsZero() || !all[i].Paused.IsZero() {
			continue
		}
		use, err := l.useOfEntry(l, &all[i])
		if err != nil {
			return nil, err
		}
		names = append(names, use.Title)
	}
	if len(names) == 0 {
		return nil, nil
	}
	return []string{fmt.Sprintf("%s in the context of %s will not start a case: %s.", english.Plural(len(names), "schedule entry", ""), l.user.Name, firstOf(names))}, nil
}

// hooks says which hooks refuse requests.
func (l *leaving) hooks() ([]string, error) {
	var names []string
	for _, info := range l.rights.Routes() {
		hooks, err := l.Routes().Hooks().OfRoute(info.ID)
		if err != nil {
			return nil, err
		}
		for i := range hooks {
			if hooks[i].Author == l.user.ID {
				names = append(names, info.Name+"/"+hooks[i].Name)
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	return []string{fmt.Sprintf("%s of %s will refuse requests, until somebody else stores the same again: %s.", english.Plural(len(names), "hook", ""), l.user.Name, firstOf(names))}, nil
}

// people says who loses a deputy, and which teams an administrator.
func (l *leaving) people() (out []string, err error) {
	var deputyOf, teams []string
	for _, p := range l.directory().Parties() {
		if p.Deputy.User == l.user.Name && l.req.Now.Before(p.Deputy.To) && !p.Disabled {
			deputyOf = append(deputyOf, string(p.Name))
		}
		if p.Kind == identity.Team && l.administersAlone(p) {
			teams = append(teams, string(p.Name))
		}
	}
	if len(deputyOf) > 0 {
		out = append(out, fmt.Sprintf("%s is the deputy of %s, for whom nobody stands in then.", l.user.Name, firstOf(deputyOf)))
	}
	if len(teams) > 0 {
		out = append(out, fmt.Sprintf("%s is the only administrator of %s: %s.", l.user.Name, english.Plural(len(teams), "team", ""), firstOf(teams)))
	}
	return out, nil
}

// administersAlone reports whether the user, and nobody else, administers the team.
func (l *leaving) administersAlone(team *identity.Party) bool {
	only := false
	for _, admin := range team.Admins {
		for _, name := range l.persons(string(admin)) {
			if identity.Fold(name) != identity.Fold(string(l.user.Name)) {
				return false
			}
			only = true
		}
	}
	return only
}

// caseNumbers returns "case 7" or "cases 7 and 9".
func caseNumbers(ids []string) string {
	if len(ids) == 1 {
		return "case " + ids[0]
	}
	return "cases " + firstOf(ids)
}

// firstOf names the first five, and counts the others.
func firstOf(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return notice.InWords(names)
}
