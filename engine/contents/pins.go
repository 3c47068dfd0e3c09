package contents

import (
	"context"
	"sync"
)

// pins are the contents that are about to be referred to, and those that are
// just being removed. No content is both.
type pins struct {
	mu       sync.Mutex
	pinned   map[[32]byte]int           // about to be referred to
	passed   map[[32]byte]bool          // pinned ones that the collector wanted
	removing map[[32]byte]chan struct{} // closed when it is done
	wake     chan struct{}              // there may be something to collect
}

func newPins() pins {
	return pins{
		pinned: map[[32]byte]int{}, passed: map[[32]byte]bool{}, removing: map[[32]byte]chan struct{}{}, wake: make(chan struct{}, 1),
	}
}

// rouse says that there may be something to collect.
func (p *pins) rouse() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// pin keeps a content from being removed until unpin is called as often. It
// waits for a removal that has begun.
func (p *pins) pin(ctx context.Context, d [32]byte) error {
	for {
		p.mu.Lock()
		gone, removing := p.removing[d]
		if !removing {
			p.pinned[d]++
		}
		p.mu.Unlock()
		if !removing {
			return nil
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// unpin removes a pin. unused means that the reference was not made.
func (p *pins) unpin(d [32]byte, unused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pinned[d]--; p.pinned[d] > 0 {
		p.passed[d] = p.passed[d] || unused
		return
	}
	if unused || p.passed[d] {
		p.rouse()
	}
	delete(p.pinned, d)
	delete(p.passed, d)
}

// claim returns the contents of the list that are not pinned. They cannot be
// pinned until release is called.
func (p *pins) claim(list [][32]byte) (claimed [][32]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range list {
		_, removing := p.removing[d]
		switch {
		case p.pinned[d] > 0:
			p.passed[d] = true
		case !removing:
			p.removing[d] = make(chan struct{})
			claimed = append(claimed, d)
		}
	}
	return claimed
}

func (p *pins) release(claimed [][32]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range claimed {
		close(p.removing[d])
		delete(p.removing, d)
	}
}
