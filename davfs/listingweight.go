package davfs

import (
	"context"

	"flowdrive/engine"
)

// What an answer that tells of many resources takes in memory, as Config.Weigh is told. It
// is weighed before anything is read, and what a PROPFIND or a listing has found is weighed
// again before it is written.
const (
	// listedWeight is held while the members of a folder are read.
	listedWeight = 2 << 20
	// partsWeight is held by a listing that is written while it is read: a part, and the one
	// that is read behind it.
	partsWeight = 2 * (2*partMembers*memberWeight + 2*partForms)
	// streamWeight is held by a stream: a page, the largest resource, with which the page
	// may have ended, and the copies that are made of both on their way.
	streamWeight = 4 * pageBytes
	// memberWeight is what is kept of a member beside its form and its properties.
	memberWeight = 512
)

// hold has the request hold so many bytes in all until it ends. Errors:
// errs.Unavailable if there is no room.
func (s *scope) hold(ctx context.Context, bytes int64) error {
	if s.weigh == nil {
		return nil
	}
	return s.weigh(ctx, bytes)
}

// weightOf returns what the members of a listing take until it is written. Their
// properties are kept as text and in parts.
func weightOf(members []*info) int64 {
	weight := int64(len(members)) * memberWeight
	for _, m := range members {
		weight += 2 * int64(len(m.stored))
		if m.ofCase != nil && !m.dir { // the folder of a case shares those of its file
			weight += 2 * int64(len(m.ofCase.form))
		}
	}
	return weight
}

// formsOf returns the bytes of the forms of resources.
func formsOf(page []engine.Resource) (bytes int64) {
	for i := range page {
		bytes += int64(len(page[i].Form))
	}
	return bytes
}

// firstPart describes the first members that a listing of the folder shows, which the request
// has room for, and for the parts that follow.
func (x *request) firstPart(ctx context.Context, dir folder) (*shown, []*info, error) {
	if err := x.hold(ctx, listedWeight); err != nil {
		return nil, nil, err
	}
	s := x.shownIn(dir)
	members, err := s.next(ctx)
	if err != nil {
		return nil, nil, err
	}
	weight := weightOf(members)
	if s.more {
		weight = max(weight, partsWeight)
	}
	return s, members, x.hold(ctx, weight)
}

// heldMembers describes all members that a listing of the folder shows, which the request has
// room for. It asks for the room of each part before it reads the next one.
func (x *request) heldMembers(ctx context.Context, dir folder) ([]*info, error) {
	s, all, err := x.firstPart(ctx, dir)
	if err != nil {
		return nil, err
	}
	for weight := weightOf(all); s.more; {
		members, err := s.next(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, members...)
		weight += weightOf(members)
		if err := x.hold(ctx, weight+listedWeight); err != nil {
			return nil, err
		}
	}
	return all, nil
}
