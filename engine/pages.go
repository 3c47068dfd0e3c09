package engine

// pages reads a listing page by page, because not all that a filter asks for is
// known to the store: of a page that it returns, some rows may not pass.
type pages[R any] struct {
	limit int                             // how many resources are wanted, 0 for all
	size  int                             // how many rows a page has, 0 for all at once
	each  func(r *Resource) (enough bool) // see Filter.Each

	list   func(after int64, limit int) ([]R, error)          // a page of rows that come after that place
	place  func(row *R) int64                                 // of a row in the listing
	weight func(row *R) int                                   // the bytes of a row, nil: of the forms
	add    func(rows []R, out []Resource) ([]Resource, error) // appends those that pass
}

// all returns the resources that come after the place.
func (p pages[R]) all(after int64) (out []Resource, err error) {
	for steps := (steps{}); ; {
		size := p.size
		if step := steps.rows(); p.each != nil && (size == 0 || size > step) {
			size = step
		}
		rows, err := p.list(after, size)
		if err != nil {
			return nil, err
		}
		told := len(out)
		if out, err = p.add(rows, out); err != nil {
			return nil, err
		}
		if p.limit > 0 && len(out) > p.limit {
			out = out[:p.limit]
		}
		enough := p.limit > 0 && len(out) == p.limit
		for i := told; i < len(out) && p.each != nil; i++ {
			steps.read += len(out[i].Form)
			enough = p.each(&out[i]) || enough
		}
		for i := 0; i < len(rows) && p.weight != nil; i++ {
			steps.read += p.weight(&rows[i])
		}
		if enough || size == 0 || len(rows) < size {
			return out, nil
		}
		after = p.place(&rows[len(rows)-1])
	}
}

// How many rows are read at once if resources are told one by one: a row may have a
// million bytes.
const (
	fewRows   = 4
	manyRows  = 64
	smallPage = 256 << 10 // bytes of forms of the rows before, for more of them to be read at once
)

// steps says how many rows are read at once. The zero value is ready.
type steps struct {
	last int // how many were
	read int // their bytes
}

// rows returns how many are read next: twice as many as before while they are small.
func (s *steps) rows() int {
	if s.last = min(max(2*s.last, fewRows), manyRows); s.read > smallPage {
		s.last = fewRows
	}
	s.read = 0
	return s.last
}
