package server

import "container/list"

// lru keeps the most recently used values, at most a number of them: memory
// that strangers fill must have a bound.
type lru[K comparable, V any] struct {
	most  int
	byKey map[K]*list.Element
	order *list.List // of *item[K, V], the most recently used first
}

type item[K comparable, V any] struct {
	key   K
	value V
}

func newLRU[K comparable, V any](most int) *lru[K, V] {
	return &lru[K, V]{most: most, byKey: map[K]*list.Element{}, order: list.New()}
}

func (l *lru[K, V]) get(key K) (value V, ok bool) {
	e, ok := l.byKey[key]
	if !ok {
		return value, false
	}
	l.order.MoveToFront(e)
	return e.Value.(*item[K, V]).value, true //nolint:errcheck // nothing else is put in
}

func (l *lru[K, V]) put(key K, value V) {
	l.remove(key)
	for l.order.Len() >= l.most {
		l.remove(l.order.Back().Value.(*item[K, V]).key) //nolint:errcheck // nothing else is put in
	}
	l.byKey[key] = l.order.PushFront(&item[K, V]{key, value})
}

func (l *lru[K, V]) remove(key K) {
	if e, ok := l.byKey[key]; ok {
		l.order.Remove(e)
		delete(l.byKey, key)
	}
}
