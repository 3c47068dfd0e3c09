package davfs

import (
	"context"

	"flowdrive/engine"
	"flowdrive/engine/change"
	"flowdrive/internal/identity"
	"flowdrive/route/diagram"
)

// Pictures are those of routes and cases (docs/contract/drive.md#pictures).
type Pictures interface {
	OfRoute(ctx context.Context, by identity.Principal, name string, version int64) (*engine.Drawn, error)
	OfCase(ctx context.Context, by identity.Principal, id int64, room engine.LogRoom) (*engine.Drawn, error)
}

// pictureName is the name of a picture in the folder of a route or a case, without
// its ending.
const pictureName = "diagram"

// pictureForms are the forms of a picture by ending, in the order of listings.
var pictureForms = []struct {
	ext, mediaType string
	write          func(*engine.Drawn) []byte
}{
	{".mmd", typeText, func(d *engine.Drawn) []byte { return d.Picture.Mermaid(d.Marks) }},
	{".svg", "image/svg+xml", func(d *engine.Drawn) []byte { return d.Picture.SVG(diagram.Options{Marks: d.Marks}) }},
	{".txt", typeText, func(d *engine.Drawn) []byte { return d.Picture.Text(d.Marks) }},
}

// isPicture reports whether a name is that of a picture.
func isPicture(name string) bool {
	for _, form := range pictureForms {
		if same(name, pictureName+form.ext) {
			return true
		}
	}
	return false
}

// picture returns the picture with that name, nil if it is not one: stem with one of
// the endings.
func (s *scope) picture(name, stem string, load func(ctx context.Context) (*engine.Drawn, error)) node {
	for _, form := range pictureForms {
		full := stem + form.ext
		if !same(name, full) {
			continue
		}
		return formFile{s, full, form.mediaType, func(ctx context.Context) (*engine.Resource, error) {
			drawn, err := load(ctx)
			if err != nil {
				return nil, err
			}
			data := form.write(drawn)
			return &engine.Resource{Name: full, Form: data, FormETag: change.SourceETag(data), Created: drawn.Created, Modified: drawn.Modified}, nil
		}}
	}
	return nil
}

// pictures returns the pictures in the folder of a route or a case, for its listing.
func (s *scope) pictures(ctx context.Context, load func(ctx context.Context) (*engine.Drawn, error)) ([]*info, error) {
	drawn, err := load(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]*info, 0, len(pictureForms))
	for _, form := range pictureForms {
		at := s.picture(pictureName+form.ext, pictureName, func(context.Context) (*engine.Drawn, error) { return drawn, nil })
		about, err := at.stat(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, about)
	}
	return out, nil
}

// drawn loads the picture of a case.
func (n caseFolder) drawn(ctx context.Context) (*engine.Drawn, error) {
	return n.engine.Pictures.OfCase(ctx, n.by, n.id, n.logRoom(ctx))
}

// drawn loads the picture of a route as it is.
func (n dropFolder) drawn(ctx context.Context) (*engine.Drawn, error) {
	return n.engine.Pictures.OfRoute(ctx, n.by, n.route, 0)
}

// drawn loads the picture of a version.
func (n versionsFolder) drawn(version int64) func(ctx context.Context) (*engine.Drawn, error) {
	return func(ctx context.Context) (*engine.Drawn, error) {
		return n.engine.Pictures.OfRoute(ctx, n.by, n.route, version)
	}
}
