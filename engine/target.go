package engine

import (
	"context"
	"slices"

	"flowdrive/engine/access"
	"flowdrive/engine/account"
	"flowdrive/engine/change"
	"flowdrive/engine/files"
	"flowdrive/engine/machine"
	"flowdrive/engine/scratch"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/route"
	"flowdrive/store"
)

// TargetKind says what kind of resource a Target is.
type TargetKind int

// The kinds of resources that can be locked.
const (
	_ TargetKind = iota
	OnDocument
	OnEntry
	OnCase
	OnRoute
	OnTask
	OnLabel
	OnRemark
	OnTimer
	OnDrop
	OnScenario
	OnCaseFile
	OnHook
	OnMe
	OnSecret
	OnParty
	OnHold
	OnUpload // the place of something new, which then has another name
	OnScratch
)

// Target is a resource that can be locked, as a path names it.
type Target struct {
	Kind     TargetKind
	Document DocumentPath       // OnDocument
	Ref      Ref                // OnEntry, OnCase; of OnTask, OnLabel, OnRemark, OnTimer and OnCaseFile the case
	Month    store.Month        // OnCase: of the archive it must be in, 0: anywhere
	Name     string             // of a route, an action, a label, a timer, a file, a secret, a party or a hold; OnDrop, OnScenario and OnHook of the route
	Hook     string             // OnHook
	Secret   store.SecretKind   // OnSecret
	Party    identity.Kind      // OnParty
	Scratch  store.ScratchPlace // OnScratch
	Draft    bool               // OnScratch: a document can be there
	URL      string             // the path, decoded
}

// targeted is what a target stands for.
type targeted struct {
	change.LockScope
	version  Version
	folder   bool
	refused  error        // why by may not write it, or nil
	breaks   bool         // by may break the locks there
	document *files.Place // OnDocument
	scratch  *Target      // OnScratch
}

func (t *targeted) exists() bool { return t.Self != "" }

// target returns what a target stands for; what by may not see is
// errs.NotFound, and so is what does not exist and cannot be made by a lock.
func (e *Locks) target(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	out, err := e.resolveTarget(r, by, t)
	if err == nil {
		out.breaks = out.breaks || by.Admin()
	}
	return out, err
}

func (e *Locks) resolveTarget(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	switch t.Kind {
	case OnDocument:
		return e.documentTarget(r, by, t)
	case OnEntry:
		return e.entryTarget(r, by, t)
	case OnCase:
		return e.caseTarget(r, by, t)
	case OnRoute:
		return e.routeTarget(r, by, t)
	case OnTask, OnLabel, OnRemark, OnTimer:
		return e.targetInCase(r, by, t)
	case OnDrop:
		_, err := e.drops.startable(by, t.Name)
		return &targeted{}, err
	case OnScenario:
		return e.scenarioTarget(r, by, t)
	case OnCaseFile:
		return e.caseFileTarget(r, by, t)
	case OnHook:
		return e.hookTarget(r, by, t)
	case OnMe, OnSecret, OnParty:
		return e.accountTarget(r, by, t)
	case OnHold:
		return e.holdTarget(r, by, t.Name)
	case OnUpload:
		return &targeted{}, nil
	case OnScratch:
		return e.targetInScratch(r, by, t)
	}
	return nil, errs.New(errs.NotLockable, "This cannot be locked.")
}

// accountTarget returns what of Account/ and Admin/ can be locked, or the place of it.
func (e *Locks) accountTarget(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	var at *account.Lockable
	var err error
	switch t.Kind {
	case OnMe:
		at, err = e.accounts.LockableMe(r, by)
	case OnSecret:
		at, err = e.accounts.LockableSecret(r, by, t.Secret, t.Name)
	default:
		at, err = e.accounts.LockableParty(r, by, t.Party, t.Name)
	}
	if err != nil {
		return nil, err
	}
	return &targeted{LockScope: at.Scope, version: at.Version, refused: at.Refused}, nil
}

func (e *Locks) documentTarget(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	at, err := e.files.PlaceAt(r, by, t.Document)
	if err != nil {
		return nil, err
	}
	out := &targeted{document: at, LockScope: at.LockScope(false), version: files.DocumentVersion(at.Found), refused: e.files.Writable(by, at.Root)}
	out.breaks = e.directory().Administers(by, at.Root.ID)
	out.folder = at.Found != nil && at.Found.Folder
	return out, nil
}

func (e *Locks) entryTarget(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	stored, given, err := e.schedules.findEntry(r, by, t.Ref)
	if err != nil {
		return nil, err
	}
	if stored == nil {
		return unmapped(by, t.Ref, "schedule entry")
	}
	out := &targeted{LockScope: change.ScopeOf(store.EntryKey(stored.UUID)), version: entryVersion(stored, given, t.Ref)}
	if !e.rights.MayChangeEntry(by, stored.ContextID, stored.AuthorID) {
		out.refused = errs.New(errs.NotAllowed, "Only its author and administrators may change an entry of everyone.")
	}
	return out, nil
}

// unmapped is the target of a name that nothing has, if by may give it to
// something (docs/contract/drive.md#identity-and-given-name).
func unmapped(by identity.Principal, ref Ref, what string) (*targeted, error) {
	if ref.Identity() || ref.Name != "" && ref.Author != by.ID {
		return nil, change.Absent(what)
	}
	return &targeted{}, nil
}

func (e *Locks) caseTarget(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	row, given, err := e.findCase(r, by, t.Ref)
	if err != nil {
		return nil, err
	}
	if row == nil || t.Month != 0 && row.Archived != t.Month {
		return unmapped(by, t.Ref, "case")
	}
	h, err := e.decider.loadRow(r, by, row, given)
	if err != nil {
		return nil, err
	}
	out := &targeted{LockScope: change.ScopeOf(store.CaseKey(row.ID)), version: caseVersion(h, t.Ref)}
	if out.refused = notArchived(row); h.admin && h.core.Life == machine.Canceled {
		out.refused = nil // by may reopen it
	}
	if !e.mayEditCase(by, h) {
		out.refused = errs.New(errs.NotAllowed, "Only its starter, the route's administrators and those who may edit its XATTRs may change the case.")
	}
	return out, nil
}

// mayEditCase reports whether by may change anything of the case by a PUT
// (judgeEdit judges what).
func (e *Locks) mayEditCase(by identity.Principal, h *loadedCase) bool {
	if h.admin || access.IsStarter(by, h.core) {
		return true
	}
	actor := e.rights.Actor(by, false)
	return slices.ContainsFunc(h.route.Compiled.Xattrs, func(x route.Xattr) bool {
		other, _ := h.core.Xattrs.Get(x.Key)
		other.Text += "?"
		return machine.MayEdit(h.core, h.route.Compiled, actor, false, h.core.Xattrs.Set(x.Key, other)) == ""
	})
}

func (e *Locks) routeTarget(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	stored, info, err := e.routeNamed(r, t.Name)
	if err != nil || stored == nil || !e.rights.SeesRoute(by, info) {
		return &targeted{}, err
	}
	version, err := routeVersion(r, stored)
	if err != nil {
		return nil, err
	}
	out := &targeted{LockScope: change.ScopeOf(store.RouteKey(stored.ID)), version: version}
	if !e.rights.Administers(by, info) {
		out.refused = errs.New(errs.NotAllowed, "Only the route's administrators may change it.")
	}
	return out, nil
}

func (e *Locks) scenarioTarget(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	at, err := e.scenarioAt(r, by, t.Name)
	if err != nil {
		return nil, err
	}
	return &targeted{LockScope: at.scope(), version: at.version(), refused: e.mayChangeScenario(by, at)}, nil
}

// targetInCase returns an enabled action, a timer, or the message of a label.
func (e *Locks) targetInCase(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	h, err := e.decider.loadCase(r, by, Ref{CaseID: t.Ref.CaseID})
	if err != nil {
		return nil, err
	}
	out := &targeted{refused: notArchived(h.row)}
	if t.Kind == OnLabel {
		switch err := (labelRights{e.base, r}).check(by, h, &NewMessage{Label: t.Name}); {
		case errs.Is(err, errs.NotAllowed):
			out.refused = err
		case err != nil:
			return nil, err
		}
		m, err := store.OrNil(r.Cases().Messages().GetByLabel(h.row.ID, t.Name))
		if err != nil || m == nil {
			return out, err
		}
		out.LockScope = change.ScopeOf(store.LabelKey(h.row.ID, t.Name))
		out.version = Version{Exists: true, ETag: MessageETag(m), Modified: m.Modified}
		return out, nil
	}
	if t.Kind == OnRemark {
		out.LockScope, out.version = change.ScopeOf(RemarkKey(h.row.ID, by)), Version{Exists: true, ETag: RemarkETag, Modified: h.core.Created}
		return out, nil
	}
	if t.Kind == OnTimer {
		if out.version = timerVersion(h, t.Name); !out.version.Exists {
			return nil, change.Absent("timer")
		}
		out.LockScope = change.ScopeOf(store.TimerKey(h.row.ID, t.Name))
		out.refused = e.cases.judgeTimer(by, h, t.Name)
		return out, nil
	}
	if err := e.tellBeside(r, by, h); err != nil {
		return nil, err
	}
	if out.version = taskVersion(h, t.Name); !out.version.Exists {
		return nil, change.Absent("enabled action")
	}
	out.LockScope = change.ScopeOf(store.TaskKey(h.row.ID, t.Name))
	if !h.admin && !machine.MayPerform(h.core, h.route.Compiled, t.Name, e.rights.Actor(by, false)) {
		out.refused = errs.New(errs.NotAllowed, "You may not perform this action.")
	}
	return out, nil
}

func (e *Locks) targetInScratch(r store.Reader, by identity.Principal, t Target) (*targeted, error) {
	found, err := scratch.Live(r, by.ID, t.Scratch, e.Wall())
	if err != nil {
		return nil, err
	}
	out := &targeted{scratch: &t}
	if found == nil {
		return out, nil
	}
	out.LockScope, out.version = scratch.ScopeOf(by.ID, t.Scratch), scratch.Version(found)
	if found.Kind != store.SideFile && found.Kind != store.Draft {
		out.refused = errs.New(errs.NotLockable, "%q cannot be locked; lock a document.", found.Place.Name)
	}
	return out, nil
}

// EndDraft deletes the draft at the place, if there is one. If a document has
// replaced it, the locks on the draft are on the document from now on.
func (e *Locks) EndDraft(ctx context.Context, by identity.Principal, at store.ScratchPlace, became *Target) error {
	return e.Update(ctx, func(tx store.Tx) error {
		found, err := store.OrNil(tx.Scratch().Get(by.ID, at.Normal()))
		if err != nil || found == nil || found.Kind != store.Draft {
			return err
		}
		if err := tx.Write().Scratch().Delete(by.ID, found.Place); err != nil {
			return err
		}
		key := store.ScratchKey(by.ID, at)
		if became == nil {
			return tx.Write().Locks().DeleteOn(key)
		}
		to, err := e.target(tx, by, *became)
		if errs.Is(err, errs.NotFound) || err == nil && !to.exists() {
			return nil // its name is not kept: the lock ends where it began
		}
		if err != nil {
			return err
		}
		return tx.Write().Locks().Move(key, to.Self)
	})
}
