package diagram

import (
	"bytes"
	"encoding/xml"
	"strconv"
	"strings"

	"flowdrive/internal/layered"
)

// Options say how a picture is written. ID begins the names of its title and
// description, which are unique in a page.
type Options struct {
	Down  bool // from top to bottom, for narrow pages
	ID    string
	Marks *Marks // nil: those of a route without cases
}

// margin is around a picture, in pixels; above it flags need room.
const margin = 14.0

// SVG writes the picture as a document of its own, with attributes for a light
// ground. A page that shows it sets other colors by the classes of its elements.
func (p *Picture) SVG(o Options) []byte {
	if o.Marks == nil {
		o.Marks = &Marks{}
	}
	if o.ID == "" {
		o.ID = "picture"
	}
	w := &writer{picture: p, marks: o.Marks, layout: p.wide}
	if o.Down {
		w.layout = p.tall
	}
	w.begin(o)
	if w.layout == nil {
		w.text(12, 24, "This route has too many states and actions to be drawn. Its text lists them.", `font-size="13" fill="#191b1f"`)
	} else {
		w.edges(o.Down)
		w.labels()
		w.nodes()
		w.below()
	}
	w.put("</g></svg>\n")
	return w.Bytes()
}

// writer writes a picture.
type writer struct {
	bytes.Buffer
	picture *Picture
	marks   *Marks
	layout  *layered.Layout
}

// put appends texts; a buffer takes everything.
func (w *writer) put(texts ...string) {
	for _, t := range texts {
		_, _ = w.WriteString(t)
	}
}

// number writes a length with one decimal at most.
func number(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}

func (w *writer) begin(o Options) {
	size := layered.Size{Width: 560, Height: 40}
	if w.layout != nil {
		size = w.layout.Size
	}
	width, height := size.Width+2*margin, size.Height+2*margin
	if notes := w.notes(); len(notes) > 0 {
		height += labelHeight * float64(len(notes))
		for _, n := range notes {
			width = max(width, labelWidth(n)+2*margin)
		}
	}
	title, text := w.marks.Title, w.marks.Text
	if title == "" {
		title = w.picture.graph.Title
	}
	if text == "" {
		text = Sentences(w.picture.graph)
	}
	id := escape(o.ID)
	w.put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 `, number(width), " ", number(height), `" width="`, number(width), `" height="`, number(height),
		`" role="`, w.role(), `" aria-labelledby="`, id, `-t `, id, `-d" font-family="Inter, 'Helvetica Neue', Arial, sans-serif">`,
		`<title id="`, id, `-t">`, escape(title), `</title><desc id="`, id, `-d">`, escape(text), `</desc>`,
		`<rect class="ground" width="100%" height="100%" fill="#ffffff"/><g transform="translate(`, number(margin), " ", number(margin), `)">`)
}

// role returns what the picture is to those who do not see it: one with links is a group,
// because nobody gets to the links of an image.
func (w *writer) role() string {
	for _, c := range w.marks.Counts {
		if c.Href != "" {
			return "group"
		}
	}
	return "img"
}

// text writes a text without escapes in its attributes.
func (w *writer) text(x, y float64, text, attributes string) {
	w.put(`<text x="`, number(x), `" y="`, number(y), `" `, attributes, `>`, escape(text), `</text>`)
}

// edges writes the arrows: first those that matter least, so that the others lie
// above them.
func (w *writer) edges(down bool) {
	for _, class := range []string{"", "can", "went"} {
		for i := range w.picture.graph.Edges {
			e := &w.picture.graph.Edges[i]
			if points := w.layout.Arrows[i].Points; w.marks.edge(e) == class && len(points) > 1 {
				w.arrow(e, points, class, down)
			}
		}
	}
}

// strokes are color and width of the arrows by class.
var strokes = map[string][2]string{"": {"#9a9ea5", "1.25"}, "can": {"#4c5057", "1.5"}, "went": {"#3448b8", "2.25"}}

// arrow writes the line of an arrow and its tip. No tip leads to a decision or a bar.
func (w *writer) arrow(e *Edge, points []layered.Point, class string, down bool) {
	stroke := strokes[class]
	to := w.picture.graph.Nodes[e.To].Kind
	end := len(points) - 1
	tipped := to != Decision && to != Join
	tip := points[end]
	if tipped {
		points = append([]layered.Point(nil), points...)
		points[end] = before(points[end-1], points[end], down)
	}
	dashes := ""
	if e.fails() {
		class, dashes = strings.TrimSpace("fails "+class), `" stroke-dasharray="4 3`
	}
	w.put(`<g class="edge`, spaced(class), `"><path d="M`, number(points[0].X), " ", number(points[0].Y))
	for i, p := range points[1:] {
		if i%3 == 0 {
			w.put(" C")
		}
		w.put(" ", number(p.X), " ", number(p.Y))
	}
	w.put(`" fill="none" stroke="`, stroke[0], `" stroke-width="`, stroke[1], dashes, `"/>`)
	if tipped {
		w.tip(points[end], tip, stroke[0], down)
	}
	w.put("</g>")
}

// tipLength is how long the tip of an arrow is.
const tipLength = 7.0

// before returns where the line of an arrow ends so that its tip can begin. Arrows
// arrive along the direction of the layers.
func before(from, end layered.Point, down bool) layered.Point {
	if down {
		return layered.Point{X: end.X, Y: end.Y - sign(end.Y-from.Y)*tipLength}
	}
	return layered.Point{X: end.X - sign(end.X-from.X)*tipLength, Y: end.Y}
}

func sign(x float64) float64 {
	if x < 0 {
		return -1
	}
	return 1
}

func (w *writer) tip(foot, end layered.Point, color string, down bool) {
	a, b := layered.Point{X: foot.X, Y: foot.Y - 3.8}, layered.Point{X: foot.X, Y: foot.Y + 3.8}
	if down {
		a, b = layered.Point{X: foot.X - 3.8, Y: foot.Y}, layered.Point{X: foot.X + 3.8, Y: foot.Y}
	}
	w.put(`<path class="tip" d="M`, number(end.X), " ", number(end.Y))
	for _, p := range []layered.Point{a, b} {
		w.put("L", number(p.X), " ", number(p.Y))
	}
	w.put(`Z" fill="`, color, `"/>`)
}

func spaced(class string) string {
	if class == "" {
		return ""
	}
	return " " + class
}

// inks are the colors of the labels by class.
var inks = map[string]string{"": "#4c5057", "can": "#191b1f", "went": "#3448b8"}

// labels writes what stands on the arrows, each on a gap.
func (w *writer) labels() {
	for i := range w.picture.graph.Edges {
		e := &w.picture.graph.Edges[i]
		if len(e.Labels) == 0 || len(w.layout.Arrows[i].Points) == 0 {
			continue
		}
		class := w.marks.edge(e)
		middle, size := w.layout.Arrows[i].Label, labelBox(e.Labels)
		w.put(`<g class="edge`, spaced(class), `">`)
		for k, l := range e.Labels {
			w.label(l, layered.Point{X: middle.X - size.Width/2, Y: middle.Y - size.Height/2 + labelHeight*float64(k)}, inks[class])
		}
		w.put("</g>")
	}
}

// label writes one line with its upper left corner at a point.
func (w *writer) label(l Label, at layered.Point, ink string) {
	x := at.X
	w.put(`<rect class="bg" x="`, number(x), `" y="`, number(at.Y), `" width="`, number(labelWidth(l)), `" height="18" rx="4" fill="#ffffff"/>`)
	x += 7
	if l.Icon != NoIcon {
		w.icon(string(l.Icon), layered.Point{X: x - 2, Y: at.Y + 2}, 1, ink)
		x += iconWidth - 2
	}
	w.text(x, at.Y+13, cut(l.Text), `font-size="12" fill="`+ink+`"`)
}

// icon writes an icon with its upper left corner at a point.
func (w *writer) icon(name string, at layered.Point, scale float64, color string) {
	w.put(`<g class="ico" transform="translate(`, number(at.X), " ", number(at.Y), `)`)
	if scale != 1 {
		w.put(" scale(", strconv.FormatFloat(scale, 'f', 2, 64), ")")
	}
	w.put(`" fill="none" stroke="`, color, `" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">`, icons[name], `</g>`)
}

// notes are what stands below the picture.
func (w *writer) notes() []Label {
	if len(w.picture.graph.Below) == 0 {
		return nil
	}
	return append([]Label{{Text: "In every state:"}}, w.picture.graph.Below...)
}

// below writes the actions that can be performed in every state.
func (w *writer) below() {
	for i, l := range w.notes() {
		at := layered.Point{Y: w.layout.Height + labelHeight*float64(i) + 8}
		l.Text = cut(l.Text)
		w.put(`<g class="edge">`)
		w.label(l, at, inks[""])
		w.put("</g>")
	}
}
