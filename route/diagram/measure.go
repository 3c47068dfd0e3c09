package diagram

import (
	"unicode/utf8"

	"flowdrive/internal/layered"
)

// Sizes in pixels.
const (
	titleSize   = 13.0
	lineSize    = 11.5
	labelSize   = 12.0
	boxHeight   = 36.0 // with a title alone
	firstLine   = 6.0  // between title and lines
	lineHeight  = 17.0
	labelHeight = 18.0
	textLeft    = 32.0 // of a box
	textRight   = 12.0
	iconWidth   = 18.0 // of a label
	rhombus     = 22.0
	dot         = 12.0
	barWidth    = 6.0
	stackShift  = 8.0
	longest     = 40 // characters of a text; the rest is cut off
	mostLines   = 3  // of a label
)

// narrow, wide and the others are widths of characters in parts of the font's size;
// rounded up, so that no font of a reader's needs more. DejaVu Sans, which Linux shows
// if there is no other font, is the widest of those that are usual.
const (
	thinWidth   = 0.34
	narrowWidth = 0.42
	normalWidth = 0.64
	capWidth    = 0.79
	wideWidth   = 1.00
	fullWidth   = 1.06
)

// widthOf returns how wide a text is at most in a usual sans serif font.
func widthOf(text string, size float64) float64 {
	w := 0.0
	for _, r := range text {
		w += charWidth(r)
	}
	return w * size
}

func charWidth(r rune) float64 {
	switch {
	case r == 'i' || r == 'j' || r == 'l' || r == 'I' || r == '.' || r == ',' || r == ':' || r == ';' || r == '\'' || r == '|' || r == ' ':
		return thinWidth
	case r == 'f' || r == 't' || r == 'r' || r == '(' || r == ')' || r == '-' || r == '/' || r == '[' || r == ']' || r == '!':
		return narrowWidth
	case r == 'm' || r == 'w' || r == 'M' || r == 'W' || r == '@' || r == '%' || r == '#' || r == '+' || r == '<' || r == '=' || r == '>' || r == '~' || r == '^' || r == 'Æ' || r == 'æ':
		return wideWidth
	case r >= 'A' && r <= 'Z' || r >= 'À' && r <= 'Þ' || r == '&':
		return capWidth
	case r < 0x1100: // Latin, Greek, Cyrillic and others of the same width
		return normalWidth
	default:
		return fullWidth
	}
}

// cut returns a text of 40 characters at most.
func cut(text string) string {
	if utf8.RuneCountInString(text) <= longest {
		return text
	}
	return string([]rune(text)[:longest-1]) + "…"
}

// boxOf returns the size of a node.
func boxOf(n *Node) layered.Box {
	switch n.Kind {
	case Begin:
		return layered.Box{Size: layered.Size{Width: dot, Height: dot}, Round: true}
	case Decision:
		return layered.Box{Size: layered.Size{Width: rhombus, Height: rhombus}, Round: true}
	case Join:
		return layered.Box{Size: layered.Size{Width: barWidth, Height: boxHeight}}
	default:
	}
	s := layered.Size{Width: textLeft + widthOf(cut(n.Title), titleSize) + textRight, Height: boxHeight}
	for _, l := range n.Lines {
		s.Width = max(s.Width, textLeft+widthOf(cut(l.Text), lineSize)+textRight)
	}
	if len(n.Lines) > 0 {
		s.Height += firstLine + lineHeight*float64(len(n.Lines))
	}
	if n.Kind == Stack {
		s.Width, s.Height = s.Width+stackShift, s.Height+stackShift
	}
	return layered.Box{Size: s}
}

// labelBox returns the size of what stands on an arrow.
func labelBox(labels []Label) layered.Size {
	var s layered.Size
	for _, l := range labels {
		s.Width = max(s.Width, labelWidth(l))
		s.Height += labelHeight
	}
	return s
}

func labelWidth(l Label) float64 {
	w := widthOf(cut(l.Text), labelSize) + 14
	if l.Icon != NoIcon {
		w += iconWidth
	}
	return w
}
