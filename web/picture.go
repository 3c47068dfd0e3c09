package web

import (
	"html/template"

	"flowdrive/route/diagram"
)

// pictureOf adds the picture of the route with the way that the case took.
func (x *visit) pictureOf(v *caseView) error {
	drawn, err := x.Queries.CasePicture(x.r.Context(), x.by, v.ID, x.logRoom)
	if err != nil {
		return err
	}
	v.Picture = picture(drawn.Picture, diagram.Options{ID: "wide", Marks: drawn.Marks})
	v.PictureTall = picture(drawn.Picture, diagram.Options{ID: "tall", Marks: drawn.Marks, Down: true})
	return nil
}

// picture returns the SVG of a picture for a page. Its writer escapes what people have
// written, and makes no elements but shapes and texts.
func picture(p *diagram.Picture, o diagram.Options) template.HTML {
	return template.HTML(p.SVG(o)) //nolint:gosec // see above; TestHostileTexts of route/diagram looks at it
}
