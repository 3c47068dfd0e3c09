package relational

import "slices"

// source is a query that yields the ids above ?2 that belong to the key ?1,
// ascending, at most ?3.
type source struct {
	query string
	key   int64
	more  []any // from ?4 on
}

// walkChunk is how many ids are asked of a source at a time.
const walkChunk = 512

// walk calls take with the ids above after that any of the sources yields,
// ascending, each once, in chunks, until take says that it has enough. It
// costs what is taken, not what there is: a page of a listing of millions is
// as cheap as one of hundreds.
func (r *reader) walk(sources []source, after int64, take func(ids []int64) (enough bool, err error)) error {
	for {
		var merged []int64
		horizon, last := int64(0), true // up to horizon every source has been heard
		for _, s := range sources {
			ids, err := r.ids(s, after)
			if err != nil {
				return err
			}
			if len(ids) == walkChunk {
				if end := ids[len(ids)-1]; last || end < horizon {
					horizon, last = end, false
				}
			}
			merged = append(merged, ids...)
		}
		slices.Sort(merged)
		merged = slices.Compact(merged)
		if !last {
			beyond, _ := slices.BinarySearch(merged, horizon+1)
			merged = merged[:beyond]
		}
		if len(merged) > 0 {
			if enough, err := take(merged); enough || err != nil {
				return err
			}
		}
		if last {
			return nil
		}
		after = horizon
	}
}

func (r *reader) ids(s source, after int64) ([]int64, error) {
	return values[int64](r.c, s.query, append([]any{s.key, after, walkChunk}, s.more...)...)
}

// sourcesOf returns a source of the query for each key.
func sourcesOf[ID ~int64](query string, keys []ID) []source {
	out := make([]source, 0, len(keys))
	for _, k := range keys {
		out = append(out, source{query: query, key: int64(k)})
	}
	return out
}

// walk is a listing of rows by what its sources yield.
type walk[R any] struct {
	table   *table[R]
	sources []source
	query   string // takes ids as its first argument, and selects by id
	given   []any  // its other arguments
}

// rows returns those that come after that place, at most limit of them, 0 for all.
func (w walk[R]) rows(r *reader, after int64, limit int) (all []R, err error) {
	err = r.walk(w.sources, after, func(ids []int64) (enough bool, err error) {
		group := limit // most rows pass the filters of the query
		if limit == 0 {
			group = walkChunk
		}
		for ; len(ids) > 0 && !enough && err == nil; group *= 2 {
			n := min(group, len(ids))
			err = w.table.addUpTo(limit, r.c, &all, w.query, append([]any{array(ids[:n])}, w.given...)...)
			ids, enough = ids[n:], limit > 0 && len(all) == limit
		}
		return enough, err
	})
	return all, err
}
