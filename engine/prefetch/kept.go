package prefetch

import (
	"slices"
	"sync"
)

// kept holds results by key, as much as there is room for. It is safe for concurrent
// use.
type kept[K comparable, V any] struct {
	mu      sync.Mutex
	results map[K]V
	order   []K // oldest first
	size    int
}

// get returns the result with that key, false for none.
func (c *kept[K, V]) get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	result, ok := c.results[key]
	return result, ok
}

// put keeps a result, unless there is one with that key. If the sizes of all then exceed
// room, the oldest go. All calls must give the same room and size.
func (c *kept[K, V]) put(key K, result V, room int, size func(V) int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.results[key]; known {
		return
	}
	for c.size+size(result) > room && len(c.order) > 0 {
		c.size -= size(c.results[c.order[0]])
		delete(c.results, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
	if c.results == nil {
		c.results = map[K]V{}
	}
	c.results[key] = result
	c.order = append(c.order, key)
	c.size += size(result)
}
