package server

import "github.com/hashicorp/golang-lru/v2/simplelru"

// lru keeps the most recently used values, at most a number of them.
type lru[K comparable, V any] = simplelru.LRU[K, V]

// newLRU returns one of at most so many values, above zero: memory that strangers fill
// must have a bound.
func newLRU[K comparable, V any](most int) *lru[K, V] {
	l, err := simplelru.NewLRU[K, V](most, nil)
	if err != nil { // all callers give constants above zero
		panic(err)
	}
	return l
}
