package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"flowdrive/engine"
	"flowdrive/engine/files"
	"flowdrive/internal/errs"
	"flowdrive/store"
)

// TestDeleteTree: a tree is gone at a stroke, however large; its rows and
// contents follow.
func TestDeleteTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sam := w.as("sam")
	sam.mustMakeFolder("sam/tree")
	sam.mustPutDocument("sam/tree/large", large("in the tree"))
	sam.mustPutDocument("sam/stays", large("stays"))
	for i := range 3 {
		sam.mustMakeFolder(fmt.Sprintf("sam/tree/%d", i))
	}
	const each = 500 // more than a unit deletes
	w.update(func(tx store.Tx) error {
		for i := range 3 {
			along, err := tx.Documents().Along(sam.id(), []string{"tree", fmt.Sprint(i)})
			if err != nil {
				return err
			}
			for j := range each {
				d := &store.Document{
					ParentID: along[2].ID, Name: fmt.Sprint(j), AuthorID: sam.id(), Revision: 1, Size: 1, SHA256: digest("x"),
					Content: []byte("x"), Created: w.clock.Now(), Modified: w.clock.Now(),
				}
				if err := tx.Write().Documents().Insert(d); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if got := len(sam.listing("sam", files.Tree(3*each+6, false)).Below); got != 3*each+6 {
		t.Fatalf("%d documents", got)
	}
	_, err := w.Files.DocumentListing(t.Context(), sam.by(), path("sam"), files.Tree(3*each+5, false))
	w.kind("a tree beyond the bound", err, errs.FiniteDepth)
	before := sam.mustDocument("sam").ETag()
	w.kind("DELETE", sam.deleteDocument("sam/tree"), "")
	same(t, "what is left", sam.members("sam"), []string{"stays"})
	if sam.mustDocument("sam").ETag() == before {
		t.Error("the folder's ETag stays")
	}
	_, err = sam.document("sam/tree/1/7")
	w.kind("below it", err, errs.NotFound)
	sam.mustMakeFolder("sam/tree") // its name is free
	w.reopen()                     // what a crash left is found again
	if err := w.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.collect()
	if got, want := sam.used(), int64(len(large("stays"))); got != want {
		t.Errorf("%d bytes are used, want %d", got, want)
	}
	if names, _ := w.files(); len(names) != 1 || !names[hexOf(large("stays"))] {
		t.Errorf("on disk are %v", names)
	}
	same(t, "the new folder", sam.members("sam/tree"), []string{})
}

// TestTreesGoByThemselves: what a deletion has left the engine deletes while
// it runs, and the contents with it.
func TestTreesGoByThemselves(t *testing.T) {
	t.Parallel()
	removed := make(chan struct{}, 10)
	w := newWorld(t, overBlobs(func(b engine.Blobs) engine.Blobs { return teller{b, removed} }))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.Engine.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer stop()
	sam := w.as("sam")
	sam.mustMakeFolder("sam/tree")
	w.update(func(tx store.Tx) error {
		along, err := tx.Documents().Along(sam.id(), []string{"tree"})
		for i := 0; i < 1100 && err == nil; i++ { // more than a unit deletes
			err = tx.Write().Documents().Insert(&store.Document{
				ParentID: along[1].ID, Name: fmt.Sprint(i), AuthorID: sam.id(), Revision: 1, SHA256: digest(""), Content: []byte{},
				Created: noon(), Modified: noon(),
			})
		}
		return err
	})
	sam.mustPutDocument("sam/tree/last", large("x"))
	w.kind("DELETE", sam.deleteDocument("sam/tree"), "")
	<-removed
	if got := sam.used(); got != 0 {
		t.Errorf("%d bytes are used", got)
	}
}
