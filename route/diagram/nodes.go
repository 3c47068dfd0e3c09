package diagram

import (
	"strconv"

	"flowdrive/internal/layered"
	"flowdrive/route"
)

// icons are the shapes within 14 pixels square: of states by type, and of who
// performs an action.
var icons = map[string]string{
	string(route.StateStart):     `<circle cx="7" cy="7" r="4.5"/>`,
	string(route.StateNormal):    `<rect x="2.75" y="2.75" width="8.5" height="8.5" rx="2"/>`,
	string(route.StateComplete):  `<circle cx="7" cy="7" r="5.25"/><path d="M4.6 7.2 6.4 9l3.2-3.8"/>`,
	string(route.StateDenied):    `<path d="M4.6 1.75h4.8l2.85 2.85v4.8l-2.85 2.85H4.6L1.75 9.4V4.6z"/><path d="m5.2 5.2 3.6 3.6m0-3.6-3.6 3.6"/>`,
	string(route.StateCancelled): `<circle cx="7" cy="7" r="5.25"/><path d="m3.4 10.6 7.2-7.2"/>`,
	string(route.StateFailed):    `<path d="M7 1.75 12.6 12H1.4z"/><path d="M7 5.4v3M7 10.2v.1"/>`,
	string(Task):                 `<rect x="2.75" y="2.75" width="8.5" height="8.5" rx="2"/>`,
	string(Final):                `<circle cx="7" cy="7" r="5.25"/><path d="M4.6 7.2 6.4 9l3.2-3.8"/>`,
	string(Stack):                `<rect x="1.75" y="4.5" width="7.5" height="7.5" rx="1.5"/><path d="M4.5 2h6a1.5 1.5 0 0 1 1.5 1.5v6"/>`,
	string(ByPeople):             `<circle cx="7" cy="4.6" r="2.4"/><path d="M2.6 12c.5-2.6 2.2-3.9 4.4-3.9s3.9 1.3 4.4 3.9"/>`,
	string(ByItself):             `<path d="M7.8 1.5 3.2 8h3.4l-.6 4.5L10.8 6H7.3z"/>`,
	string(ByTime):               `<circle cx="7" cy="7.4" r="4.9"/><path d="M7 4.6v2.9l1.8 1.2M5.6 1.2h2.8"/>`,
	string(ByMessage):            `<rect x="1.5" y="3" width="11" height="8.5" rx="1.3"/><path d="m2 4.2 5 3.6 5-3.6"/>`,
	string(ByCases):              `<rect x="1.75" y="4.5" width="7.5" height="7.5" rx="1.5"/><path d="M4.5 2h6a1.5 1.5 0 0 1 1.5 1.5v6"/>`,
	string(Again):                `<path d="M11.5 7a4.5 4.5 0 1 1-1.6-3.4"/><path d="M10.2 1.2v2.6H7.6"/>`,
}

// look is how a box is drawn on a light ground.
type look struct{ fill, stroke, width, ink, faint, icon string }

func lookOf(n *Node, m Mark) look {
	l := look{"#ffffff", "#868a90", "1.25", "#191b1f", "#656a72", "#656a72"}
	switch n.Kind {
	case Kind(route.StateComplete), Final:
		l.icon = "#1a6e40"
	case Kind(route.StateDenied), Kind(route.StateFailed):
		l.icon = "#b0261d"
	default:
	}
	switch m {
	case Here:
		l.fill, l.stroke, l.width, l.ink, l.icon = "#eaedfa", "#3448b8", "2.25", "#3448b8", "#3448b8"
	case Been:
		l.stroke = "#3448b8"
	case Reached:
		l.stroke, l.width = "#1a6e40", "2.25"
		l.fill = "#e5f3ea"
		if l.icon == "#b0261d" {
			l.stroke, l.fill = "#b0261d", "#fbe9e7"
		}
	case Far:
		l.stroke, l.ink = "#c9cbcf", "#656a72"
	}
	return l
}

// nodes writes the boxes.
func (w *writer) nodes() {
	for i := range w.picture.graph.Nodes {
		n := &w.picture.graph.Nodes[i]
		at := w.layout.Boxes[i]
		switch n.Kind {
		case Begin:
			w.put(`<circle class="begin" cx="`, number(at.X), `" cy="`, number(at.Y), `" r="5" fill="#656a72"/>`)
		case Decision:
			w.put(`<g class="node decide"><path class="box" d="M`, number(at.X-rhombus/2), " ", number(at.Y),
				"l11-11 11 11-11 11z", `" fill="#ffffff" stroke="#868a90" stroke-width="1.25"/></g>`)
		case Join:
			w.bar(at)
		default:
			w.box(n, at)
		}
	}
}

// bar writes where arrows meet. It stands across the arrows.
func (w *writer) bar(at layered.Point) {
	width, height := barWidth, boxHeight
	if w.layout == w.picture.tall {
		width, height = height, width
	}
	w.put(`<g class="node join"><rect class="bar" x="`, number(at.X-width/2), `" y="`, number(at.Y-height/2), `" width="`, number(width), `" height="`, number(height),
		`" rx="2" fill="#656a72"/></g>`)
}

// box writes a state or an action.
func (w *writer) box(n *Node, at layered.Point) {
	mark := w.marks.of(n)
	l := lookOf(n, mark)
	size := boxOf(n).Size
	x, y := at.X-size.Width/2, at.Y-size.Height/2
	w.put(`<g class="node `, string(n.Kind), spaced(string(mark)), `">`)
	if n.Kind == Stack {
		size.Width, size.Height = size.Width-stackShift, size.Height-stackShift
		w.rect(x+stackShift, y, size, l)
		w.rect(x+stackShift/2, y+stackShift/2, size, l)
		y += stackShift
	}
	w.rect(x, y, size, l)
	w.icon(string(n.Kind), layered.Point{X: x + 11, Y: y + 11}, 1, l.icon)
	w.text(x+textLeft, y+22.5, cut(n.Title), `font-size="13" font-weight="560" fill="`+l.ink+`"`)
	for i, line := range n.Lines {
		top := y + 34 + lineHeight*float64(i)
		text := line.Text
		if own, ok := w.marks.Stacks[n.Action]; ok && n.Kind == Stack && i == 0 {
			text = own
		}
		w.icon(string(line.Icon), layered.Point{X: x + 12, Y: top}, 0.86, l.faint)
		w.text(x+textLeft, top+10, cut(text), `class="small" font-size="11.5" fill="`+l.faint+`"`)
	}
	w.badges(n, mark, x, y, size)
	w.put("</g>")
}

func (w *writer) rect(x, y float64, s layered.Size, l look) {
	w.put(`<rect x="`, number(x), `" y="`, number(y), `" width="`, number(s.Width), `" height="`, number(s.Height), `" rx="8" fill="`, l.fill,
		`" stroke="`, l.stroke, `" stroke-width="`, l.width, `"/>`)
}

// badges writes the flag of the state in which a case is, and how many cases are in
// a state.
func (w *writer) badges(n *Node, mark Mark, x, y float64, s layered.Size) {
	if mark == Here && n.State != "" && w.marks.Flag != "" {
		w.badge("count", w.marks.Flag, layered.Point{X: x + s.Width/2, Y: y}, "#3448b8", "#eaedfa")
	}
	count, ok := w.marks.Counts[n.State]
	if !ok || n.State == "" || count.Cases == 0 {
		return
	}
	at := layered.Point{X: x + s.Width - 12, Y: y}
	if count.Href != "" {
		w.put(`<a href="`, escape(count.Href), `" aria-label="`, escape(n.Title+": "+count.words()), `">`)
		defer w.put("</a>")
	}
	if count.Late > 0 {
		late := strconv.Itoa(count.Late) + " late"
		w.badge("count late", late, at, "#b0261d", "#fbe9e7")
		at.X -= widthOf(late, lineSize) + 20
	}
	w.badge("count", count.number(), at, "#3448b8", "#eaedfa")
}

// badge writes a short text in a rounded box whose middle is at a point.
func (w *writer) badge(class, text string, at layered.Point, ink, fill string) {
	width := max(20, widthOf(text, lineSize)+14)
	w.put(`<g class="`, class, `"><rect x="`, number(at.X-width/2), `" y="`, number(at.Y-9), `" width="`, number(width), `" height="18" rx="9" fill="`, fill, `" stroke="`, ink, `"/>`)
	w.text(at.X, at.Y+4, text, `text-anchor="middle" font-size="11.5" font-weight="560" fill="`+ink+`"`)
	w.put("</g>")
}
