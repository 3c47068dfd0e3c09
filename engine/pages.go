package engine

// pages reads a listing page by page, because not all that a filter asks for is
// known to the store: of a page that it returns, some rows may not pass.
type pages[R any] struct {
	limit int // how many resources are wanted, 0 for all
	size  int // how many rows a page has, 0 for all at once

	list  func(after int64) ([]R, error)                     // a page of rows that come after that place
	place func(row *R) int64                                 // of a row in the listing
	add   func(rows []R, out []Resource) ([]Resource, error) // appends those that pass
}

// all returns the resources that come after the place.
func (p pages[R]) all(after int64) (out []Resource, err error) {
	for {
		rows, err := p.list(after)
		if err != nil {
			return nil, err
		}
		if out, err = p.add(rows, out); err != nil {
			return nil, err
		}
		if p.size == 0 || len(rows) < p.size || len(out) >= p.limit {
			break
		}
		after = p.place(&rows[len(rows)-1])
	}
	if p.limit > 0 && len(out) > p.limit {
		out = out[:p.limit]
	}
	return out, nil
}
