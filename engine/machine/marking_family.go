package machine

// appendFamily appends what the case knows of its parent and children.
func (f *Family) appendFamily(b []byte) []byte {
	b = appendNonzero(b, `,"pa":`, f.Parent)
	b = appendNonzero(b, `,"pr":`, f.ParentRow)
	b = appendFilled(b, `,"pn":`, f.ParentAction)
	b = appendNonzero(b, `,"dp":`, int64(f.Depth))
	b = appendNonzero(b, `,"lk":`, int64(f.Links))
	if len(f.Mapped) > 0 {
		b = appendStrings(append(b, `,"mr":`...), f.Mapped)
	}
	for i := range f.Children {
		line := &f.Children[i]
		b = appendItem(b, `,"ch":`, i)
		b = appendInt(b, `{"id":`, line.ID)
		b = appendString(b, `,"r":`, line.Route)
		b = appendString(b, `,"l":`, string(line.Life))
		b = appendFilled(b, `,"s":`, line.Status)
		b = append(appendString(b, `,"a":`, line.Action), '}')
	}
	b = appendEnd(b, len(f.Children))
	b = appendNonzero(b, `,"cc":`, f.ChildrenCount)
	if f.Halted {
		b = append(b, `,"ht":true`...)
	}
	for i := range f.Work {
		b = appendItem(b, `,"wk":`, i)
		b = appendString(b, `{"k":`, string(f.Work[i].Kind))
		b = appendNonzero(b, `,"n":`, f.Work[i].Row)
		b = append(appendNonzero(b, `,"a":`, f.Work[i].After), '}')
	}
	return appendEnd(b, len(f.Work))
}

func (k *Kids) append(b []byte) []byte {
	if k == nil {
		return b
	}
	b = appendString(b, `,"k":{"r":`, k.Route)
	b = appendInt(b, `,"n":`, k.Total)
	b = appendInt(b, `,"m":`, k.Made)
	b = appendNonzero(b, `,"c":`, k.Completed)
	b = appendNonzero(b, `,"x":`, k.Canceled)
	for i := range k.Tally {
		b = appendItem(b, `,"t":`, i)
		b = appendString(b, `{"s":`, k.Tally[i].Status)
		b = append(appendInt(b, `,"n":`, k.Tally[i].Count), '}')
	}
	b = appendEnd(b, len(k.Tally))
	if k.Entered {
		b = append(b, `,"w":true`...)
	}
	return append(appendSet(b, `,"f":`, k.Finished), '}')
}

// familyField reads one of the fields that appendFamily writes.
func (r *markingReader) familyField(f *Family, key []byte) {
	switch string(key) {
	case "pa":
		f.Parent = r.integer()
	case "pr":
		f.ParentRow = r.integer()
	case "pn":
		f.ParentAction = r.text()
	case "dp":
		f.Depth = int(r.integer())
	case "lk":
		f.Links = int(r.integer())
	case "mr":
		f.Mapped = list(r, r.text)
	case "ch":
		f.Children = list(r, r.line)
	case "cc":
		f.ChildrenCount = r.integer()
	case "ht":
		f.Halted = r.yes()
	case "wk":
		f.Work = list(r, r.work)
	default:
		r.unknown(key)
	}
}

func (r *markingReader) line() (l Line) {
	r.object(func(key []byte) {
		switch string(key) {
		case "id":
			l.ID = r.integer()
		case "r":
			l.Route = r.text()
		case "l":
			l.Life = Life(r.text())
		case "s":
			l.Status = r.text()
		case "a":
			l.Action = r.text()
		default:
			r.unknown(key)
		}
	})
	return l
}

func (r *markingReader) work() (w Work) {
	r.object(func(key []byte) {
		switch string(key) {
		case "k":
			w.Kind = WorkKind(r.text())
		case "n":
			w.Row = r.integer()
		case "a":
			w.After = r.integer()
		default:
			r.unknown(key)
		}
	})
	return w
}

func (r *markingReader) kids() *Kids {
	k := &Kids{}
	r.object(func(key []byte) {
		switch string(key) {
		case "r":
			k.Route = r.text()
		case "n":
			k.Total = r.integer()
		case "m":
			k.Made = r.integer()
		case "c":
			k.Completed = r.integer()
		case "x":
			k.Canceled = r.integer()
		case "t":
			k.Tally = list(r, r.tally)
		case "w":
			k.Entered = r.yes()
		case "f":
			k.Finished = r.instant()
		default:
			r.unknown(key)
		}
	})
	return k
}

func (r *markingReader) tally() (t Tally) {
	r.object(func(key []byte) {
		switch string(key) {
		case "s":
			t.Status = r.text()
		case "n":
			t.Count = r.integer()
		default:
			r.unknown(key)
		}
	})
	return t
}
