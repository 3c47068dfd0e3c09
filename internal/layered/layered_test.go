package layered_test

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"flowdrive/internal/layered"
)

// graphs yields graphs of any shape: cycles, parts without a connection, several
// arrows between the same boxes.
func graphs(t *rapid.T) *layered.Graph {
	g := &layered.Graph{Down: rapid.Bool().Draw(t, "down")}
	for range rapid.IntRange(1, 25).Draw(t, "boxes") {
		g.Boxes = append(g.Boxes, layered.Box{
			Size:  layered.Size{Width: rapid.Float64Range(10, 250).Draw(t, "width"), Height: rapid.Float64Range(10, 90).Draw(t, "height")},
			Round: rapid.Bool().Draw(t, "round"),
		})
	}
	box := rapid.IntRange(0, len(g.Boxes)-1)
	for range rapid.IntRange(0, 50).Draw(t, "arrows") {
		a := layered.Arrow{From: box.Draw(t, "from"), To: box.Draw(t, "to")}
		if rapid.Bool().Draw(t, "labelled") {
			a.Label = layered.Size{Width: rapid.Float64Range(20, 200).Draw(t, "label"), Height: 18}
		}
		g.Arrows = append(g.Arrows, a)
	}
	return g
}

// overlap reports whether two rectangles, by middle and size, have a place in common.
func overlap(p layered.Point, s layered.Size, q layered.Point, r layered.Size) bool {
	const rounding = 0.01
	return math.Abs(p.X-q.X) < (s.Width+r.Width)/2-rounding && math.Abs(p.Y-q.Y) < (s.Height+r.Height)/2-rounding
}

// Boxes and labels never lie upon each other or outside of the picture, and equal
// graphs have equal layouts.
func TestPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := graphs(t)
		l, ok := layered.Place(g)
		if !ok {
			t.Fatal("the graph was refused")
		}
		points, sizes := rectangles(g, l)
		for i := range points {
			if math.IsNaN(points[i].X + points[i].Y) {
				t.Fatalf("%d has no place", i)
			}
			if points[i].X-sizes[i].Width/2 < -0.01 || points[i].Y-sizes[i].Height/2 < -0.01 || points[i].X+sizes[i].Width/2 > l.Width+0.01 || points[i].Y+sizes[i].Height/2 > l.Height+0.01 {
				t.Fatalf("%d is outside of the picture: %v %v, %v", i, points[i], sizes[i], l.Size)
			}
			for k := range i {
				if overlap(points[i], sizes[i], points[k], sizes[k]) {
					t.Fatalf("%d and %d lie upon each other: %v %v, %v %v", i, k, points[i], sizes[i], points[k], sizes[k])
				}
			}
		}
		again, _ := layered.Place(g)
		if !reflect.DeepEqual(l, again) {
			t.Fatal("the same graph got another layout")
		}
	})
}

// rectangles are the middles and sizes of boxes and labels.
func rectangles(g *layered.Graph, l *layered.Layout) (points []layered.Point, sizes []layered.Size) {
	for i := range g.Boxes {
		points, sizes = append(points, l.Boxes[i]), append(sizes, g.Boxes[i].Size)
	}
	for i, a := range g.Arrows {
		if a.Label.Width > 0 && a.From != a.To {
			points, sizes = append(points, l.Arrows[i].Label), append(sizes, a.Label)
		}
	}
	return points, sizes
}

// An arrow begins at the edge of a box and ends at that of the other one.
func TestArrowsTouchBoxes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := graphs(t)
		l, _ := layered.Place(g)
		for i, a := range g.Arrows {
			points := l.Arrows[i].Points
			if a.From == a.To {
				if points != nil {
					t.Fatal("an arrow from a box to itself was laid out")
				}
				continue
			}
			if len(points)%3 != 1 {
				t.Fatalf("arrow %d has %d points", i, len(points))
			}
			for _, end := range []struct {
				box int
				at  layered.Point
			}{{a.From, points[0]}, {a.To, points[len(points)-1]}} {
				s, p := g.Boxes[end.box].Size, l.Boxes[end.box]
				dx, dy := math.Abs(end.at.X-p.X)-s.Width/2, math.Abs(end.at.Y-p.Y)-s.Height/2
				if max(dx, dy) > 0.01 || max(dx, dy) < -0.01 {
					t.Fatalf("arrow %d ends at %v, its box is at %v, %v", i, end.at, p, s)
				}
			}
		}
	})
}

// A graph without cycles has arrows that go forwards only, and the picture of a
// chain is one line.
func TestChain(t *testing.T) {
	t.Parallel()
	g := &layered.Graph{}
	for range 4 {
		g.Boxes = append(g.Boxes, layered.Box{Size: layered.Size{Width: 50, Height: 20}})
	}
	for i := range 3 {
		g.Arrows = append(g.Arrows, layered.Arrow{From: i, To: i + 1, Label: layered.Size{Width: 30, Height: 18}})
	}
	l, _ := layered.Place(g)
	for i := range 3 {
		if l.Boxes[i+1].X <= l.Boxes[i].X || math.Abs(l.Boxes[i+1].Y-l.Boxes[i].Y) > 0.01 {
			t.Errorf("boxes %d and %d are at %v and %v", i, i+1, l.Boxes[i], l.Boxes[i+1])
		}
	}
}

// What nobody could read is refused before it takes time.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	g := &layered.Graph{}
	for i := range 1000 {
		g.Boxes = append(g.Boxes, layered.Box{Size: layered.Size{Width: 50, Height: 20}})
		if i > 0 {
			g.Arrows = append(g.Arrows, layered.Arrow{From: i - 1, To: i}, layered.Arrow{From: 0, To: i})
		}
	}
	if _, ok := layered.Place(g); ok {
		t.Error("a graph with half a million places was laid out")
	}
}
