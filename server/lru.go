package server

import "container/list"

// lru keeps the most recently used values, at most a number of them: memory
// that strangers fill must have a bound.
type lru[K comparable, V any] struct {
	most  int
	byKey map[K]*entry[V]
	order *list.List // of K, the most recently used first
}

type entry[V any] struct {
	value V
	place *list.Element
}

func newLRU[K comparable, V any](most int) *lru[K, V] {
	return &lru[K, V]{most: most, byKey: map[K]*entry[V]{}, order: list.New()}
}

func (l *lru[K, V]) get(key K) (value V, ok bool) {
	e, ok := l.byKey[key]
	if !ok {
		return value, false
	}
	l.order.MoveToFront(e.place)
	return e.value, true
}

func (l *lru[K, V]) put(key K, value V) {
	l.remove(key)
	for l.order.Len() >= l.most {
		oldest, _ := l.order.Back().Value.(K)
		l.remove(oldest)
	}
	l.byKey[key] = &entry[V]{value, l.order.PushFront(key)}
}

func (l *lru[K, V]) remove(key K) {
	if e, ok := l.byKey[key]; ok {
		l.order.Remove(e.place)
		delete(l.byKey, key)
	}
}
