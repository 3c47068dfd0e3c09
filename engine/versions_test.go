package engine

import (
	"testing"

	"flowdrive/route"
)

// TestVersionsAreLetGo: however many versions of routes there are, what is held of
// them has a bound. That which was asked for last stays.
func TestVersionsAreLetGo(t *testing.T) {
	t.Parallel()
	var c versionCache
	const source = 149_000
	kept := &route.Route{}
	c.put(1, 0, kept, source)
	for version := int64(1); version <= 400; version++ {
		c.put(1, version, &route.Route{}, source)
		if got, _ := c.held(1, 0); got != kept {
			t.Fatalf("after %d versions the one that is asked for again and again is gone", version)
		}
	}
	if c.weight > mostVersions || len(c.compiled) < 2 || c.weight != int64(len(c.compiled))*weightOfVersion(source) {
		t.Errorf("%d versions of %d bytes are held", len(c.compiled), c.weight)
	}
	if got, _ := c.held(1, 400); got == nil {
		t.Error("the newest is not held")
	}
	if got, _ := c.held(1, 1); got != nil {
		t.Error("the oldest is held")
	}
	c.put(2, 1, kept, mostVersions) // larger than all that there is room for
	if got, _ := c.held(2, 1); got != kept || len(c.compiled) != 1 {
		t.Errorf("a large version leaves %d", len(c.compiled))
	}
	c.put(2, 1, kept, source)
	c.put(2, 1, kept, source)
	if c.weight != weightOfVersion(source) {
		t.Errorf("a version that is put twice weighs %d", c.weight)
	}
	c.replace(func() {})
	if got, cleared := c.held(2, 1); got != nil || cleared != 1 || c.weight != 0 {
		t.Errorf("after the change of names %v, cleared %d times, weight %d", got, cleared, c.weight)
	}
}
