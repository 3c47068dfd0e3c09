package davfs

import (
	"context"
	"encoding/xml"
	"errors"
	"net/http"
	"slices"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// patcher is a node of which clients can set properties.
type patcher interface {
	node
	// storesProperty reports whether the node stores the property.
	storesProperty(name xml.Name) bool
	// patch makes the changes in order, all or none. If one of them fails, failed is
	// its index, else -1.
	patch(ctx context.Context, req engine.Request, changes []dav.PropChange) (failed int, err error)
}

// deadProperties returns the changes as those of properties that mean nothing
// to the drive.
func deadProperties(changes []dav.PropChange) []store.Property {
	out := make([]store.Property, len(changes))
	for i, c := range changes {
		out[i] = store.Property{Space: c.Name.Space, Name: c.Name.Local}
		if !c.Remove {
			out[i].XML = c.Value.Fragment()
		}
	}
	return out
}

// proppatch answers PROPPATCH (RFC 4918, section 9.2): every property that it
// names has a status, and all are changed or none.
func (d *drive) proppatch(x *request) (*answer, error) {
	if err := x.query.only(); err != nil {
		return nil, err
	}
	n, err := x.place()
	if err != nil {
		return nil, err
	}
	about, err := x.statOverlay(x.r.Context(), x.at, n)
	if err != nil {
		return nil, err
	}
	condition, err := x.condition()
	if err != nil {
		return nil, err
	}
	if condition, err = x.clientCondition(x.r.Context(), x.at, n, condition); err != nil {
		return nil, err
	}
	body, err := readXML(x.r)
	if err != nil {
		return nil, err
	}
	changes, err := dav.ParseProppatch(body)
	if err != nil {
		return nil, err
	}
	results, err := d.patch(x, n, changes, condition)
	if err != nil {
		return nil, err
	}
	a := &answer{Status: http.StatusMultiStatus}
	changed := !slices.ContainsFunc(results, func(r dav.PropResult) bool { return r.Status != http.StatusOK })
	if x.minimal(a.add) && changed {
		a.Status, a.Body = http.StatusOK, []byte{}
		return a, nil
	}
	at := dav.Href(x.at.Segments...)
	if about.dir {
		at = dav.FolderHref(at)
	}
	a.Body = dav.AppendPropResults(nil, at, changes, results)
	a.add("Content-Type", "text/xml; charset=utf-8")
	return a, nil
}

// patch changes properties of a node, and says what became of each change.
func (d *drive) patch(x *request, n node, changes []dav.PropChange, condition engine.Condition) ([]dav.PropResult, error) {
	p := &propPatch{request: x, changes: changes, outcome: make([]propOutcome, len(changes))}
	p.checkNames(n)
	req := x.engineRequest(d.Clock.Now())
	req.If = condition
	if err := p.apply(n, req); err != nil {
		return nil, err
	}
	return p.results(d), nil
}

// propPatch is a PROPPATCH on its way.
type propPatch struct {
	*request
	changes []dav.PropChange
	outcome []propOutcome // of each
}

// propOutcome is what became of a change; zero: it was made.
type propOutcome struct {
	kind      errs.Kind // "" if only another one failed
	failed    bool
	condition string // the DAV: condition, "" for none
	why       string
}

// checkNames finds the changes that cannot be made, independent of the stored version.
func (p *propPatch) checkNames(n node) {
	target, _ := n.(patcher)
	for i, c := range p.changes {
		sets, kept := setsModified(c.Name)
		times := target != nil && target.storesProperty(c.Name) && sets
		switch {
		case times && !kept && modifiedBy(c).IsZero():
			p.outcome[i] = propOutcome{errs.Invalid, true, "", "This property is a time: seconds since 1970, a date of HTTP, or one of RFC 3339. It cannot be removed."}
		case times:
		case dav.IsLive(c.Name), isChecksum(c.Name):
			p.outcome[i] = propOutcome{errs.NotAllowed, true, "cannot-modify-protected-property", "This property is computed and cannot be changed."}
		case target != nil && target.storesProperty(c.Name), dav.IsTimestamp(c.Name):
		default:
			p.outcome[i] = propOutcome{errs.NotAllowed, true, "", "This resource does not store properties of this name."}
		}
	}
}

// refused reports whether a change cannot be made.
func (p *propPatch) refused() bool {
	return slices.ContainsFunc(p.outcome, func(o propOutcome) bool { return o.failed })
}

// apply makes the changes of properties that the node stores. If the caller may not
// change it, time stamps alone are accepted all the same: Windows sends them with
// everything it does, and takes a refusal for a refusal of that.
func (p *propPatch) apply(n node, req engine.Request) error {
	target, ok := n.(patcher)
	var kept []dav.PropChange
	var at []int
	for i, c := range p.changes {
		if ok && target.storesProperty(c.Name) {
			kept, at = append(kept, c), append(at, i)
		}
	}
	if p.refused() || len(kept) == 0 {
		return p.checkStored(n, req.If)
	}
	failed, err := target.patch(p.r.Context(), req, kept)
	kind := errs.KindOf(err)
	switch {
	case err == nil:
		return nil
	case failed < 0:
		return err
	case kind == errs.NotAllowed && !slices.ContainsFunc(p.changes, func(c dav.PropChange) bool { return !dav.IsTimestamp(c.Name) }):
		return nil
	}
	p.outcome[at[failed]] = propOutcome{kind: kind, failed: true, why: detailOf(err)}
	return nil
}

// checkStored checks a condition against the stored version and the locks on it. A
// draft and an echo have none.
func (x *request) checkStored(n node, condition engine.Condition) error {
	if condition == nil {
		return nil
	}
	about, err := n.stat(x.r.Context())
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}
	return x.checkVersion(n, about, condition)
}

// detailOf returns what an error says to who has caused it.
func detailOf(err error) string {
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return e.Detail
	}
	return err.Error()
}

// results says what became of the changes.
func (p *propPatch) results(d *drive) []dav.PropResult {
	out := make([]dav.PropResult, len(p.changes))
	for i, o := range p.outcome {
		out[i] = dav.PropResult{Status: http.StatusOK, Condition: o.condition, Description: o.why}
		switch {
		case o.failed:
			out[i].Status = d.Status(o.kind)
		case p.refused():
			out[i].Status, out[i].Description = http.StatusFailedDependency, failedDependency
		}
	}
	return out
}

const failedDependency = "Another property could not be changed, so none was."
