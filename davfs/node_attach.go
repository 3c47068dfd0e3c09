package davfs

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"flowdrive/engine"
	"flowdrive/internal/clock"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// attachRoot is the first segment of every attachment's address.
const attachRoot = "attachfs"

// disposition is how an attachment is handed out: what stands between /attachfs/ and
// its UUID.
type disposition string

const (
	plain    disposition = "" // as any content
	inline   disposition = "view"
	download disposition = "download"
)

// header returns the header Content-Disposition (RFC 6266) of a file of
// that name; "" leaves it to the media type.
func (w disposition) header(name string) string {
	if w == plain {
		return ""
	}
	kind := "inline"
	if w == download {
		kind = "attachment"
	}
	ascii := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '_'
		}
		return r
	}, name)
	// Three characters stand in a path but not in RFC 8187, section 3.2.1.
	escaped := strings.NewReplacer(":", "%3A", "=", "%3D", "@", "%40").Replace(url.PathEscape(name))
	return kind + "; filename*=UTF-8''" + escaped + `; filename="` + ascii + `"`
}

// attachmentInfo describes an attachment, which is listed by its UUID: names
// need not be unique.
func attachmentInfo(w disposition, a *engine.Resource) *info {
	return &info{
		name: a.Name, size: a.SourceSize, etag: `"` + a.Name + `"`, mediaType: a.MediaType,
		disposition: w.header(a.Given), created: a.Created, modified: a.Created,
	}
}

// attachFolder is /attachfs/: what is bound to no case, by UUID
// (docs/contract/labels-attachments.md#4-attachfs).
type attachFolder struct{ *scope }

func (n attachFolder) home() []string { return []string{attachRoot} }

func (n attachFolder) stat(context.Context) (*info, error) {
	return folderInfo(attachRoot, n.since), nil
}

func (n attachFolder) child(_ context.Context, name string) (node, error) {
	switch {
	case same(name, contentsName):
		return hiddenFile{n.scope, n, contentsName}, nil
	case same(name, lsName):
		return hiddenFile{n.scope, n, lsName}, nil
	case same(name, string(inline)):
		return wayFolder{n.scope, inline}, nil
	case same(name, string(download)):
		return wayFolder{n.scope, download}, nil
	case digits(name):
		id, ok := parseID(name)
		if !ok {
			return nil, absent()
		}
		return caseAttachments{n.scope, id}, nil
	}
	return n.attachment(name, 0), nil
}

// attachment returns the attachment that a name of a folder names by its UUID, or
// the place of a new one.
func (s *scope) attachment(name string, caseID int64) node {
	if uuid, ok := parseUUID(name); ok {
		return attachmentFile{s, plain, caseID, uuid}
	}
	return newAttachment{s, caseID, norm.NFC.String(name)}
}

func (n attachFolder) list(ctx context.Context) ([]*info, error) {
	files, err := n.attachments(ctx, plain, engine.Filter{OwnOnly: true})
	return append([]*info{folderInfo(string(inline), n.since), folderInfo(string(download), n.since)}, files...), err
}

// attachments describes attachments as they are handed out in that way.
func (s *scope) attachments(ctx context.Context, w disposition, f engine.Filter) ([]*info, error) {
	list, err := s.engine.Attachments.Attachments(ctx, s.by, f)
	out := make([]*info, len(list))
	for i := range list {
		out[i] = attachmentInfo(w, &list[i])
	}
	return out, err
}

func (n attachFolder) filters() []string { return []string{"context"} }

func (n attachFolder) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	return n.engine.Attachments.Attachments(ctx, n.by, f)
}

func (n attachFolder) listed(r *engine.Resource) *info {
	return attachmentInfo(plain, r)
}

// wayFolder is /attachfs/view/ or /attachfs/download/.
type wayFolder struct {
	*scope
	disposition disposition
}

func (n wayFolder) stat(context.Context) (*info, error) {
	return folderInfo(string(n.disposition), n.since), nil
}

func (n wayFolder) child(_ context.Context, name string) (node, error) {
	uuid, ok := parseUUID(name)
	if !ok {
		return nil, absent()
	}
	return attachmentFile{n.scope, n.disposition, 0, uuid}, nil
}

func (n wayFolder) list(ctx context.Context) ([]*info, error) {
	return n.attachments(ctx, n.disposition, engine.Filter{OwnOnly: true})
}

// caseAttachments is /attachfs/<caseId>/: what is bound to the case.
type caseAttachments struct {
	*scope
	id int64
}

func (n caseAttachments) home() []string { return []string{attachRoot, strconv.FormatInt(n.id, 10)} }

func (n caseAttachments) stat(ctx context.Context) (*info, error) {
	return caseFolder(n).stat(ctx)
}

func (n caseAttachments) child(_ context.Context, name string) (node, error) {
	switch {
	case same(name, contentsName):
		return hiddenFile{n.scope, n, contentsName}, nil
	case same(name, lsName):
		return hiddenFile{n.scope, n, lsName}, nil
	}
	return n.attachment(name, n.id), nil
}

func (n caseAttachments) list(ctx context.Context) ([]*info, error) {
	return n.attachments(ctx, plain, engine.Filter{CaseID: n.id})
}

func (n caseAttachments) filters() []string { return nil }

func (n caseAttachments) page(ctx context.Context, f engine.Filter) ([]engine.Resource, error) {
	f.CaseID = n.id
	return n.engine.Attachments.Attachments(ctx, n.by, f)
}

func (n caseAttachments) listed(r *engine.Resource) *info { return attachFolder{n.scope}.listed(r) }

// attachmentFile is an attachment by its UUID.
type attachmentFile struct {
	*scope
	disposition disposition
	caseID      int64 // in the folder of a case: that it must be bound to
	uuid        store.UUID
}

func (n attachmentFile) about(a *store.Attachment) (*info, error) {
	if n.caseID != 0 && a.CaseID != n.caseID {
		return nil, absent()
	}
	return attachmentInfo(n.disposition, &engine.Resource{
		Name: a.UUID.String(), Given: a.Name, MediaType: a.MediaType, SourceSize: a.Size, Created: a.Created,
	}), nil
}

func (n attachmentFile) stat(ctx context.Context) (*info, error) {
	a, err := n.engine.Attachments.Attachment(ctx, n.by, n.uuid)
	if err != nil {
		return nil, err
	}
	return n.about(a)
}

func (n attachmentFile) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	a, err := n.engine.Attachments.OpenAttachment(ctx, n.by, n.uuid)
	if err != nil {
		return nil, nil, err
	}
	about, err := n.about(&a.Attachment)
	if err != nil {
		_ = a.Body.Close() // only read
		return nil, nil, err
	}
	return about, a.Body, nil
}

func (n attachmentFile) options() []string { return nil }

func (n attachmentFile) remove(ctx context.Context, req engine.Request, _ query) error {
	if n.caseID != 0 {
		if _, err := n.stat(ctx); err != nil {
			return err
		}
	}
	return n.engine.Attachments.DeleteAttachment(ctx, req, n.uuid)
}

// newAttachment is the place of a new attachment: each PUT makes one, and
// nothing is found under the name.
type newAttachment struct {
	*scope
	caseID int64 // to bind it to, 0 for none
	name   string
}

func (n newAttachment) stat(context.Context) (*info, error) { return nil, absent() }

// open finds nothing. What its author has just saved is found there for a while (echo).
func (n newAttachment) open(context.Context) (*info, io.ReadSeekCloser, error) { //nolint:unparam // as reader has it
	return nil, nil, absent()
}

func (n newAttachment) lockTarget() engine.Target { return engine.Target{Kind: engine.OnUpload} }

func (n newAttachment) putRules() putRules {
	rules := putRules{content: true, illegal: legalName(n.name)}
	if n.caseID == 0 {
		rules.parameters = []string{"context"}
	}
	return rules
}

// attachmentHeader tells the UUID of a new attachment
// (docs/contract/drive.md#compatibility-headers).
const attachmentHeader = "X-OpenGroupware-AttachmentUUID"

// expiresIn is the header that says how long an attachment is to live.
const expiresIn = "X-Expires-In"

// headers answers what is wrong with the headers that an upload has.
func (n newAttachment) headers(h http.Header) error {
	_, err := lifetime(h)
	return err
}

func lifetime(h http.Header) (clock.Duration, error) {
	values := h.Values(expiresIn)
	if len(values) == 0 {
		return clock.Duration{}, nil
	}
	d, err := clock.ParseDuration(values[0])
	if err != nil || len(values) > 1 || d.IsZero() {
		return d, errs.New(errs.BadParameter, "The header %s must be a duration like P30D or PT12H, above zero, and be given once.", expiresIn)
	}
	return d, nil
}

func (n newAttachment) put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error) {
	return n.attach(ctx, req, in, false)
}

// attach makes the attachment. One that replaces takes the place of what its case has
// under the name.
func (n newAttachment) attach(ctx context.Context, req engine.Request, in *upload, replaces bool) (*engine.Outcome, error) {
	context, err := in.query.text("context")
	if err != nil {
		return nil, err
	}
	given := engine.NewAttachment{Name: n.name, CaseID: n.caseID, Context: context, MediaType: in.mediaType, Size: in.r.ContentLength, Replaces: replaces}
	if in.r.Header.Get("Content-Type") == "" {
		given.MediaType = ""
	}
	if given.Lifetime, err = lifetime(in.r.Header); err != nil {
		return nil, err
	}
	return n.engine.Attachments.PutAttachment(ctx, req, given, in.body)
}

func (n newAttachment) describe(a *answer, o *engine.Outcome) {
	a.locate(attachRoot, string(inline), o.Name)
	a.add(attachmentHeader, o.Name)
}
