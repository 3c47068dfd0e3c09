package prefetch

import (
	"strings"
	"testing"
)

// TestPlays: what a story yielded is found again by all its documents, as long as there is
// room.
func TestPlays(t *testing.T) {
	t.Parallel()
	var c Plays
	story := func(scenario, name, source string, yaml bool) *Story {
		return &Story{Scenario: []byte(scenario), YAML: yaml, Routes: []StoryRoute{{Name: name, Source: []byte(source)}}}
	}
	first := story("s", "r", "x", true)
	c.Put(first, Played{Steps: 3})
	if got, ok := c.Get(story("s", "r", "x", true)); !ok || got.Steps != 3 || !got.Holds() {
		t.Errorf("the same story: %v %+v", ok, got)
	}
	for _, other := range []*Story{story("t", "r", "x", true), story("s", "q", "x", true), story("s", "r", "y", true), story("s", "r", "x", false)} {
		if _, ok := c.Get(other); ok {
			t.Errorf("another story: %+v", other)
		}
	}
	for i := range 100 {
		c.Put(story(strings.Repeat("s", i+2), "r", "x", true), Played{Log: strings.Repeat("l", playRoom/50)})
	}
	if _, ok := c.Get(first); ok || c.size > playRoom || len(c.order) != len(c.results) {
		t.Errorf("of many: %v, %d bytes, %d in order, %d", ok, c.size, len(c.order), len(c.results))
	}
}
