package davfs

import (
	"net/http"
	"time"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// lockable is a node that a LOCK locks, or at which it makes something.
type lockable interface {
	node
	lockTarget() engine.Target
}

// lockTarget names the node as locks are on it, at the request's path.
func (x *request) lockTarget(n lockable) engine.Target {
	t := n.lockTarget()
	t.URL = x.at.String()
	return t
}

// lock answers LOCK: a new lock, or one that is to last longer.
func (d *drive) lock(x *request) (*answer, error) {
	deep, err := dav.ReadDepth(x.r.Method, x.r.Header.Get("Depth"))
	if err != nil {
		return nil, err
	}
	if err := x.query.only(); err != nil {
		return nil, err
	}
	condition, err := x.condition()
	if err != nil {
		return nil, err
	}
	target, err := d.lockPlace(x)
	if err != nil {
		return nil, err
	}
	body, err := readXML(x.r)
	if err != nil {
		return nil, err
	}
	want, err := dav.ReadLockInfo(body)
	if err != nil {
		return nil, err
	}
	req := x.engineRequest(d.Clock.Now())
	req.If = condition
	lifetime := dav.ReadTimeout(x.r.Header.Values("Timeout"))
	if want == nil {
		return d.refreshLock(x, req, target, lifetime)
	}
	l, created, err := x.engine.Locks.Lock(x.r.Context(), req, target, engine.NewLock{
		Shared: want.Shared, Deep: deep, Owner: want.Owner, Lasts: lifetime,
	})
	if err != nil {
		return nil, err
	}
	a := x.answerLock(l)
	a.add("Lock-Token", "<"+dav.Token(l.Token).String()+">")
	if created {
		a.Status = http.StatusCreated
		a.locate(x.at.Segments...)
	}
	return a, nil
}

// lockPlace returns what a LOCK or UNLOCK is about.
func (d *drive) lockPlace(x *request) (engine.Target, error) {
	n, err := x.place()
	if err != nil {
		return engine.Target{}, err
	}
	if t, can, err := x.draftTarget(x.r.Context(), n); can || err != nil {
		return t, err
	}
	if target, ok := n.(lockable); ok {
		return x.lockTarget(target), nil
	}
	if _, err := n.stat(x.r.Context()); err != nil {
		return engine.Target{}, err
	}
	if _, ok := n.(folder); ok {
		return engine.Target{}, errs.New(errs.NotLockable, "Folders of the workflow cannot be locked; lock the document.")
	}
	return engine.Target{}, errs.New(errs.NotLockable, "This cannot be locked.")
}

// refreshLock answers a LOCK without body: the lock that its If header names
// lasts longer (RFC 4918, section 9.10.2).
func (d *drive) refreshLock(x *request, req engine.Request, t engine.Target, lifetime time.Duration) (*answer, error) {
	if len(x.tokens) == 0 {
		return nil, errs.New(errs.BadParameter, "A LOCK without a body refreshes a lock; the header If must have its token.")
	}
	l, err := x.engine.Locks.RefreshLock(x.r.Context(), req, t, lifetime)
	if err != nil {
		return nil, err
	}
	return x.answerLock(l), nil
}

// answerLock answers with the lock as a property (RFC 4918, section 9.10.1).
func (x *request) answerLock(l *store.Lock) *answer {
	told := activeLock(l, x.by.ID, l.Expires.Add(-l.Lasts))
	b := []byte(`<?xml version="1.0" encoding="utf-8"?>` + "\n" + `<D:prop xmlns:D="DAV:"><D:lockdiscovery>`)
	b = append(dav.AppendActiveLock(b, &told), "</D:lockdiscovery></D:prop>\n"...)
	a := &answer{Status: http.StatusOK, Body: b}
	a.add("Content-Type", typeXML)
	a.add("Cache-Control", "no-store")
	return a
}

// unlock answers UNLOCK. With ?force instead of a token it breaks all locks
// that cover the resource, which administrators may, and who owns a root of
// Documents/.
func (d *drive) unlock(x *request) (*answer, error) {
	if err := x.query.only("force"); err != nil {
		return nil, err
	}
	force, err := x.query.flag("force")
	if err != nil {
		return nil, err
	}
	var token dav.Token
	if values := x.r.Header.Values("Lock-Token"); !force || len(values) > 0 {
		if token, err = dav.ReadLockToken(values); err != nil {
			return nil, err
		}
	}
	condition, err := x.condition()
	if err != nil {
		return nil, err
	}
	target, err := d.lockPlace(x)
	if err != nil {
		return nil, err
	}
	req := x.engineRequest(d.Clock.Now())
	req.If = condition
	if force {
		err = x.engine.Locks.BreakLocks(x.r.Context(), req, target)
	} else {
		err = x.engine.Locks.Unlock(x.r.Context(), req, target, store.UUID(token))
	}
	if err != nil {
		return nil, err
	}
	return &answer{Status: http.StatusNoContent}, nil
}

func (n documentPath) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnDocument, Document: n.path}
}

func (n documentTarget) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnDocument, Document: n.path}
}

func (n scratchTarget) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnScratch, Scratch: n.at.place()}
}

func (n entryFile) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnEntry, Ref: n.name.ref}
}

func (n routeFile) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnRoute, Name: n.name}
}

func (n caseFile) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnCase, Ref: n.name.ref}
}

func (n dropFile) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnDrop, Name: n.route}
}

func (n actionFile) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnTask, Ref: engine.Ref{CaseID: n.id}, Name: n.action}
}

func (n timerFile) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnTimer, Ref: engine.Ref{CaseID: n.id}, Name: n.timer}
}

func (n labelFile) lockTarget() engine.Target {
	return engine.Target{Kind: engine.OnLabel, Ref: engine.Ref{CaseID: n.id}, Name: n.label}
}
