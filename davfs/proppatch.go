package davfs

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// patcher is a node of which clients can set properties.
type patcher interface {
	node
	// keeps reports whether the node stores the property.
	keeps(name xml.Name) bool
	// patch makes the changes in order, all or none. Where it is one of them
	// that fails, failed is its index, else -1.
	patch(ctx context.Context, req engine.Request, changes []propChange) (failed int, err error)
}

// propChange sets a property, or removes it.
type propChange struct {
	name   xml.Name
	remove bool
	value  *xmlElement // the whole property
}

// deadProperties returns the changes as those of properties that mean nothing
// to the drive.
func deadProperties(changes []propChange) []engine.Property {
	out := make([]engine.Property, len(changes))
	for i, c := range changes {
		out[i] = engine.Property{Space: c.name.Space, Name: c.name.Local}
		if !c.remove {
			out[i].XML = c.value.fragment()
		}
	}
	return out
}

// proppatch answers PROPPATCH (RFC 4918, section 9.2): every property that it
// names has a status, and all are changed or none.
func (d *drive) proppatch(x *exchange) error {
	if err := x.query.only(); err != nil {
		return err
	}
	n, err := x.place()
	if err != nil {
		return err
	}
	about, err := n.stat(x.r.Context())
	if err != nil {
		return err
	}
	condition, err := x.condition()
	if err != nil {
		return err
	}
	body, err := readXML(x.r)
	if err != nil {
		return err
	}
	changes, err := parseProppatch(body)
	if err != nil {
		return err
	}
	p := &patching{exchange: x, changes: changes, outcome: make([]propOutcome, len(changes))}
	p.judge(n)
	req := x.request(d.Clock.Now())
	req.If = condition
	if err := p.apply(n, about, req); err != nil {
		return err
	}
	return p.answer(d, about)
}

// patching is a PROPPATCH on its way.
type patching struct {
	*exchange
	changes []propChange
	outcome []propOutcome // of each
}

// propOutcome is what became of a change; zero: it was made.
type propOutcome struct {
	kind      errs.Kind // "" where only another one failed
	failed    bool
	condition string // the DAV: condition, "" for none
	why       string
}

// judge finds the changes that cannot be, whatever is stored.
func (p *patching) judge(n node) {
	target, _ := n.(patcher)
	for i, c := range p.changes {
		switch {
		case isLive(c.name):
			p.outcome[i] = propOutcome{errs.NotAllowed, true, "cannot-modify-protected-property", "This property is computed; it follows from what is stored."}
		case target != nil && target.keeps(c.name), isTimestamp(c.name):
		default:
			p.outcome[i] = propOutcome{errs.NotAllowed, true, "", "This resource keeps no properties of this name."}
		}
	}
}

// refused reports whether a change cannot be made.
func (p *patching) refused() bool {
	return slices.ContainsFunc(p.outcome, func(o propOutcome) bool { return o.failed })
}

// apply makes the changes of what the node keeps. Where the caller may not
// change it, time stamps alone are accepted all the same: Windows sends them
// with whatever it does, and takes a refusal for one of that.
func (p *patching) apply(n node, about *info, req engine.Request) error {
	target, ok := n.(patcher)
	var kept []propChange
	var at []int
	for i, c := range p.changes {
		if ok && target.keeps(c.name) {
			kept, at = append(kept, c), append(at, i)
		}
	}
	if p.refused() || len(kept) == 0 {
		if req.If == nil {
			return nil
		}
		return req.If(about.version())
	}
	failed, err := target.patch(p.r.Context(), req, kept)
	kind := errs.KindOf(err)
	switch {
	case err == nil:
		return nil
	case failed < 0:
		return err
	case kind == errs.NotAllowed && !slices.ContainsFunc(p.changes, func(c propChange) bool { return !isTimestamp(c.name) }):
		return nil
	}
	p.outcome[at[failed]] = propOutcome{kind: kind, failed: true, why: detailOf(err)}
	return nil
}

// detailOf returns what an error says to who has caused it.
func detailOf(err error) string {
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return e.Detail
	}
	return err.Error()
}

// answer writes the multistatus: the properties by what became of them.
func (p *patching) answer(d *drive, about *info) error {
	at := href(p.at.segments...)
	if about.dir {
		at = asFolder(at)
	}
	b := append([]byte(nil), `<?xml version="1.0" encoding="utf-8"?>`+"\n"+`<D:multistatus xmlns:D="DAV:"><D:response><D:href>`...)
	b = append(appendText(b, at), "</D:href>"...)
	if p.refused() {
		for i := range p.outcome {
			if !p.outcome[i].failed {
				p.outcome[i].why = failedDependency
			}
		}
	}
	for done := make([]bool, len(p.changes)); ; {
		first := slices.Index(done, false)
		if first < 0 {
			break
		}
		b = append(b, "<D:propstat><D:prop>"...)
		var names []xml.Name
		for i, c := range p.changes {
			if done[i] || p.outcome[i] != p.outcome[first] {
				continue
			}
			done[i] = true
			if !slices.Contains(names, c.name) {
				names = append(names, c.name)
				b = appendForeign(b, c.name)
			}
		}
		b = p.outcome[first].appendStatus(append(b, "</D:prop>"...), d)
		b = append(b, "</D:propstat>"...)
	}
	b = append(append(b, "</D:response>"...), multistatusEnd...)
	header := p.w.Header()
	header.Set("Content-Type", "text/xml; charset=utf-8")
	header.Set("Content-Length", fmt.Sprint(len(b)))
	p.w.WriteHeader(http.StatusMultiStatus)
	_, err := p.w.Write(b)
	return err
}

const failedDependency = "Another property could not be changed, and so none was."

func (o propOutcome) appendStatus(dst []byte, d *drive) []byte {
	status := http.StatusOK
	switch {
	case o.failed:
		status = d.Status(o.kind)
	case o.why != "":
		status = http.StatusFailedDependency
	}
	dst = fmt.Appendf(dst, "<D:status>HTTP/1.1 %d %s</D:status>", status, http.StatusText(status))
	if o.condition != "" {
		dst = append(dst, "<D:error><D:"+o.condition+"/></D:error>"...)
	}
	if o.why != "" {
		dst = append(appendText(append(dst, "<D:responsedescription>"...), o.why), "</D:responsedescription>"...)
	}
	return dst
}

// The namespaces of the properties in which systems keep times and flags of
// their own files.
const (
	microsoftSpace = "urn:schemas-microsoft-com:"
	appleSpace     = "http://www.apple.com/webdav_fs/props/"
)

// isTimestamp reports whether a property is of those that Windows and macOS
// set with whatever they store.
func isTimestamp(name xml.Name) bool {
	return name.Space == microsoftSpace || name.Space == appleSpace
}

// parseProppatch reads the body of a PROPPATCH (RFC 4918, section 14.19): what
// it sets and removes, in order.
func parseProppatch(body []byte) ([]propChange, error) {
	root, err := parseXML(body)
	if err != nil {
		return nil, err
	}
	refuse := func(why string) error {
		return errs.New(errs.NotParseable, "The body is no propertyupdate (RFC 4918, section 14.19): %s.", why)
	}
	if root.name != (xml.Name{Space: davSpace, Local: "propertyupdate"}) {
		return nil, refuse("it is another element")
	}
	var out []propChange
	for step := range root.elements() {
		set := step.name == xml.Name{Space: davSpace, Local: "set"}
		if !set && step.name != (xml.Name{Space: davSpace, Local: "remove"}) {
			continue // what is not known is passed over (section 17)
		}
		prop, err := step.child("prop")
		if err != nil {
			return nil, err
		}
		if prop == nil {
			return nil, refuse("what it sets and removes must stand in prop")
		}
		for e := range prop.elements() {
			if len(out) == mostProps {
				return nil, refuse(fmt.Sprintf("it names more than %d properties", mostProps))
			}
			out = append(out, propChange{name: e.name, remove: !set, value: e})
		}
	}
	if len(out) == 0 {
		return nil, refuse("it must set or remove a property")
	}
	return out, nil
}
