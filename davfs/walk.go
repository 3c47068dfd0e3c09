package davfs

import (
	"context"
	"io"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/internal/link"
	"flowdrive/store"
)

// scope is what nodes ask with: the use cases, and who makes the request.
type scope struct {
	engine *Engine
	by     identity.Principal
	since  time.Time // when the generated files of the drive came to be
	wall   time.Time // the machine's time, also in a sandbox
	script bool      // the client is a script, not a mounting client
	writes bool      // by a PUT

	address link.Base   // by which the user calls the server
	secrets *newSecrets // that mounting clients have just made; nil: none are shown

	weigh func(ctx context.Context, bytes int64) error // see Config.Weigh; nil: without a bound

	// under is what a listing asks for in addition to the resource itself, so that a
	// place that must look up what it is can ask for both at once. nil if nothing is
	// listed.
	under *store.Under
}

// node is a place in the tree. Only stat says whether anything is there: a path is
// walked without asking what is stored along it. What else a node can do, the small
// interfaces below say.
type node interface {
	// stat describes what is there, or answers errs.NotFound.
	stat(ctx context.Context) (*info, error)
}

// folder is a node with members.
type folder interface {
	node
	// child returns the place of that name, or errs.NotFound if there can be none.
	child(ctx context.Context, name string) (node, error)
	// list describes the members that a listing shows.
	list(ctx context.Context) ([]*info, error)
}

// collection is a folder of resources: it has .contents and .ls.
type collection interface {
	folder
	// filters names the query parameters that its hidden keys take.
	filters() []string
	// page returns resources in order of creation.
	page(ctx context.Context, f engine.Filter) ([]engine.Resource, error)
	// listed describes a resource as the listing shows it.
	listed(r *engine.Resource) *info
	// home returns the segments of the folder in which they are found.
	home() []string
}

// reader is a node that GET reads.
type reader interface {
	node
	open(ctx context.Context) (*info, io.ReadSeekCloser, error)
}

// streamer is a node that GET reads without knowing its size beforehand.
type streamer interface {
	node
	// parameters names what its query may hold.
	parameters() []string
	// start makes the first part ready, so that a failure can still be
	// answered; next is the query of the following page, "" for none.
	start(ctx context.Context, q query) (stream stream, next string, err error)
}

// stream writes what start began.
type stream func(ctx context.Context, w io.Writer) error

// writer is a node that PUT creates, replaces or performs.
type writer interface {
	node
	putRules() putRules
	put(ctx context.Context, req engine.Request, in *upload) (*engine.Outcome, error)
	// describe adds what an answer says of the outcome besides its ETag.
	describe(a *answer, o *engine.Outcome)
}

// remover is a node that DELETE removes.
type remover interface {
	node
	remove(ctx context.Context, req engine.Request, q query) error
	// options names what the query of a DELETE may hold.
	options() []string
}

// creator is a place at which MKCOL makes a folder.
type creator interface {
	node
	makeFolder(ctx context.Context, req engine.Request) (*engine.Outcome, error) // its Name is the path
}

// tree is a folder that takes a PROPFIND of infinite depth.
type tree interface {
	folder
	// below describes it: the members of each folder, by the path that leads
	// from here to the folder, "" to this one.
	below(ctx context.Context) (map[string][]*info, error)
}

// unresolved is a place whose kind depends on what is stored.
type unresolved interface {
	node
	resolve(ctx context.Context) (node, error)
}

// walk returns the place that the address names. It answers errs.NotFound if the
// tree can have no such place.
func (s *scope) walk(ctx context.Context, a address) (node, error) {
	n, _, err := s.walkWithin(ctx, a)
	return n, err
}

// walkWithin does the same, and returns the folder of the place as walk would, or nil if
// that needs a walk of its own.
func (s *scope) walkWithin(ctx context.Context, a address) (n node, within folder, err error) {
	at := s.root()
	for i, name := range a.Segments {
		dir, ok := at.(folder)
		if !ok {
			if dir, err = folderOfName(ctx, at); err != nil {
				return nil, nil, err
			}
		}
		within = dir
		if _, other := at.(unresolved); other || !ok {
			within = nil
		}
		next, err := s.scratchChild(ctx, dir, a.Segments[:i], name)
		if next == nil && err == nil {
			next = s.namesOf(dir, a.Segments[:i], name)
		}
		if next == nil && err == nil {
			next, err = dir.child(ctx, name)
		}
		if err != nil {
			return nil, nil, err
		}
		at = next
	}
	if place, ok := at.(unresolved); ok {
		at, err = place.resolve(ctx)
	}
	return at, within, err
}

// absent is the answer for what does not exist and for what is not the
// caller's to see: the same words for both.
func absent() error {
	return errs.New(errs.NotFound, "There is nothing at this address, or you may not see it.")
}
