package davfs

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// naming is what a file name in Schedule/ or Cases/ stands for
// (docs/contract/drive.md#identity-and-given-name).
type naming struct {
	ref      engine.Ref // zero: names nothing that exists
	identity bool       // has the form of an identity, so that it never names anything new
	source   string     // media type of what is PUT under a given name, "" for an identity
	illegal  error      // why nothing can be created under the name
	stem     string     // of a name without an extension: what it is the name of before that
}

// readName reads a file name of a folder that keeps given names. byIdentity
// says whether a stem has the form of an identity, and of which.
func (s *scope) readName(name string, byIdentity func(stem string) (ref engine.Ref, isForm bool)) naming {
	name = norm.NFC.String(name)
	stem, ext := splitName(name)
	if ref, isForm := byIdentity(stem); isForm {
		if ext != ".json" {
			ref = engine.Ref{}
		}
		return naming{ref: ref, identity: true}
	}
	n := naming{illegal: legalName(name)}
	if ext == "" {
		n.stem = name
	}
	if ext == "" || same(name, newName) {
		return n
	}
	n.source = sourceType(ext)
	if at := strings.IndexByte(stem, '@'); at > 0 { // no given name has one, but a user's may
		own := stem[:at] + name[len(stem):]
		if author := s.engine.Parties.PartyID(stem[at+1:]); author != 0 && legalName(own) == nil {
			return naming{ref: engine.Ref{Author: author, Name: own}, source: n.source}
		}
	}
	if n.illegal == nil {
		n.ref = engine.Ref{Author: s.by.ID, Name: name}
	}
	return n
}

// nothing reports whether nothing that exists can bear the name.
func (n naming) nothing() bool { return n.ref == engine.Ref{} }

func (n naming) putRules() putRules { return putRules{existing: n.identity, illegal: n.illegal} }

// showsSource reports whether GET of the name gives what was PUT under it,
// not the complete form.
func (n naming) showsSource(r *engine.Resource) bool { return n.source != "" && r.SourceETag != "" }

func (n naming) about(s *scope, r *engine.Resource) *info {
	if n.showsSource(r) {
		return sourceInfo(s.listedName(r), n.source, r)
	}
	return formInfo(r.Name+".json", r)
}

func (n naming) content(r *engine.Resource) io.ReadSeekCloser {
	if n.showsSource(r) {
		return contentOf(r.Source)
	}
	return contentOf(r.Form)
}

// listedName is the file name under which a listing shows the resource: the
// given name to its author, with the author's name to others, else the
// identity.
func (s *scope) listedName(r *engine.Resource) string {
	switch {
	case r.Given == "":
		return r.Name + ".json"
	case r.AuthorID == s.by.ID:
		return r.Given
	case r.Author == "":
		return r.Name + ".json"
	}
	stem, _ := splitName(r.Given)
	return stem + "@" + string(r.Author) + r.Given[len(stem):]
}

// fileOfCase returns the path of a case's file as the listing of Cases/ has it. Programs that
// mount the drive find no other. If the case cannot be read its number will do.
func (s *scope) fileOfCase(ctx context.Context, id int64) string {
	name := strconv.FormatInt(id, 10) + ".json"
	if r, err := s.engine.Cases.Case(ctx, s.by, engine.Ref{CaseID: id}); err == nil {
		name = s.listedName(r)
	}
	return "Cases/" + name
}

// listedFile describes the resource under its listed name.
func (s *scope) listedFile(r *engine.Resource) *info {
	name := s.listedName(r)
	if r.Given == "" || r.SourceETag == "" || name == r.Name+".json" {
		return formInfo(r.Name+".json", r)
	}
	_, ext := splitName(r.Given)
	return sourceInfo(name, sourceType(ext), r)
}

// orSince gives what has no time of its own the drive's.
func (s *scope) orSince(t time.Time) time.Time {
	if t.IsZero() {
		return s.since
	}
	return t
}

// eachOf tells of the resources that page returns, and holds none of their forms longer,
// which may have a million bytes each. tell says if no more are wanted.
func eachOf(ctx context.Context, page pageOf, f engine.Filter, tell func(r *engine.Resource) (enough bool)) error {
	told := false
	f.Each = func(r *engine.Resource) (enough bool) {
		told = true
		enough = tell(r)
		r.Form, r.Source = nil, nil
		return enough
	}
	resources, err := page(ctx, f)
	if err != nil || told {
		return err
	}
	for i := range resources { // of a list that is short
		if tell(&resources[i]) {
			break
		}
	}
	return nil
}

// formFile is a read-only file that the engine renders.
type formFile struct {
	*scope
	name      string
	mediaType string
	load      func(ctx context.Context) (*engine.Resource, error)
}

func (n formFile) stat(ctx context.Context) (*info, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	return n.about(r), nil
}

func (n formFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	r, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return n.about(r), contentOf(r.Form), nil
}

func (n formFile) about(r *engine.Resource) *info {
	about := formInfo(n.name, r)
	about.mediaType = n.mediaType
	about.modified = n.orSince(about.modified)
	return about
}

// named is a place in a folder that keeps given names.
type named interface {
	node
	// folderOf returns the folder of what has the name with that extension, or
	// errs.NotFound.
	folderOf(ctx context.Context, stem, ext string) (folder, error)
	// stem is the name if it has no extension, otherwise "".
	stem() string
}

// folderOfName returns the folder of what has the name of the place as its given name, without
// the extension, as Cases/<id>/ is of <id>.json. It answers errs.NotFound if nothing has.
func folderOfName(ctx context.Context, at node) (folder, error) {
	place, ok := at.(named)
	if !ok || place.stem() == "" {
		return nil, absent()
	}
	for _, ext := range [...]string{".json", ".yaml", ".yml"} {
		dir, err := place.folderOf(ctx, place.stem(), ext)
		if !errs.Is(err, errs.NotFound) {
			return dir, err
		}
	}
	return nil, absent()
}
