package notify

import (
	"slices"
	"sync"
)

// receipts remember which addresses have got a mail that others have yet to
// get. There are few. A restart forgets them; a recipient may then get a mail
// twice.
type receipts struct {
	mu   sync.Mutex
	keys []string // oldest first
	of   map[string][]string
}

const mostReceipts = 1000

// add records that an address has got a mail.
func (r *receipts) add(key, address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string][]string{}
	}
	if r.of[key] == nil {
		if len(r.keys) == mostReceipts {
			delete(r.of, r.keys[0])
			r.keys = slices.Delete(r.keys, 0, 1)
		}
		r.keys = append(r.keys, key)
	}
	r.of[key] = append(r.of[key], address)
}

// without returns the addresses that do not have the mail.
func (r *receipts) without(key string, addresses []string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(addresses, func(a string) bool { return slices.Contains(r.of[key], a) })
}

// forget drops what is known of a mail that all have.
func (r *receipts) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.keys, key); i >= 0 {
		r.keys = slices.Delete(r.keys, i, i+1)
		delete(r.of, key)
	}
}
