package engine

import (
	"sync"
	"sync/atomic"

	"flowdrive/route"
	"flowdrive/store"
)

// mostVersions bounds what the compiled versions of routes take in memory, in bytes.
const mostVersions = 64 << 20

// weightOfVersion returns about how many bytes a compiled version takes: what is made
// of its values, and of its expressions.
func weightOfVersion(source int) int64 { return 32<<10 + 16*int64(source) }

// versionCache holds compiled versions of routes, which never change. When there is
// no room, that which was not asked for for longest is let go, and compiled again
// when it is needed.
type versionCache struct {
	moment atomic.Int64 // counts what was asked for

	mu       sync.RWMutex
	compiled map[versionKey]*heldVersion
	weight   int64
	cleared  int // how often
}

type versionKey struct{ id, version int64 }

type heldVersion struct {
	route  *route.Route
	weight int64
	asked  atomic.Int64
}

// get returns the compiled version, from the store if it is not held.
func (c *versionCache) get(r store.Reader, id, version int64) (*route.Route, error) {
	held, cleared := c.held(id, version)
	if held != nil {
		return held, nil
	}
	compiled, size, err := compileVersion(r, id, version)
	if err == nil {
		c.mu.Lock()
		if c.cleared == cleared { // else names may have meant others when it was read
			c.hold(id, version, compiled, size)
		}
		c.mu.Unlock()
	}
	return compiled, err
}

// held returns the version if it is in memory, and how often the cache was cleared.
func (c *versionCache) held(id, version int64) (compiled *route.Route, cleared int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if v := c.compiled[versionKey{id, version}]; v != nil {
		v.asked.Store(c.moment.Add(1))
		return v.route, c.cleared
	}
	return nil, c.cleared
}

// put holds a version that is durable, made of a source of that length.
func (c *versionCache) put(id, version int64, compiled *route.Route, source int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold(id, version, compiled, source)
}

func (c *versionCache) hold(id, version int64, compiled *route.Route, source int) {
	if c.compiled == nil {
		c.compiled = map[versionKey]*heldVersion{}
	}
	key := versionKey{id, version}
	c.drop(key)
	v := &heldVersion{route: compiled, weight: weightOfVersion(source)}
	v.asked.Store(c.moment.Add(1))
	for c.weight+v.weight > mostVersions && len(c.compiled) > 0 {
		c.drop(c.longestUnasked())
	}
	c.compiled[key] = v
	c.weight += v.weight
}

func (c *versionCache) longestUnasked() (key versionKey) {
	var since int64
	for k, v := range c.compiled {
		if at := v.asked.Load(); since == 0 || at < since {
			key, since = k, at
		}
	}
	return key
}

func (c *versionCache) drop(key versionKey) {
	if v := c.compiled[key]; v != nil {
		c.weight -= v.weight
		delete(c.compiled, key)
	}
}

// replace forgets all versions, because names in them mean others now. then replaces
// the current ones.
func (c *versionCache) replace(then func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compiled, c.weight = nil, 0
	c.cleared++
	then()
}
