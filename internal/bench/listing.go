package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/net/webdav"

	"flowdrive/engine"
	"flowdrive/engine/contents"
)

const (
	workList = "PROPFIND of 10,000 members, 5 properties"
	workFile = "GET of 500 bytes, 32 connections"
)

// What a mounted drive asks for, and what Windows does.
const (
	namedProps = `<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:displayname/><D:getcontentlength/>` +
		`<D:getetag/><D:getlastmodified/><D:resourcetype/></D:prop></D:propfind>`
	allProps = `<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>`
)

// listed is the folder that is listed, on both sides.
const listed = "/dav/Documents/" + caller + "/files/"

func fileName(i int) string { return fmt.Sprintf("%05d.json", i) }

// measureListing is P6: a folder of files is listed, and one of them read. The
// yardstick is plain x/net/webdav over a folder with the same files.
func measureListing(ctx context.Context, r *run) (_ []Row, err error) {
	var undo cleanup
	defer undo.run(&err)
	data, err := r.folder("documents")
	if err != nil {
		return nil, err
	}
	if err := r.fillDocuments(ctx, data); err != nil {
		return nil, err
	}
	files, err := r.plainFolder()
	if err != nil {
		return nil, err
	}
	ours, err := r.serve(ctx, data, &undo)
	if err != nil {
		return nil, err
	}
	theirs, err := serveOther(ctx, withBasic(&webdav.Handler{
		Prefix: "/dav", FileSystem: webdav.Dir(files), LockSystem: webdav.NewMemLS(),
	}), &undo)
	if err != nil {
		return nil, err
	}
	// Reading comes first: a connection that is silent for long is closed.
	reading := func(name string, conns []*connection) side {
		return side{name, func(ctx context.Context, d time.Duration) (sample, error) {
			return load(ctx, callers, d, func(_ context.Context, caller int) error {
				return conns[caller].do(http.MethodGet, listed+fileName(caller), nil, http.StatusOK)
			})
		}, nil}
	}
	read, err := r.alternate(ctx, reading("flowdrive", ours), reading("webdav", theirs))
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, list := range []struct{ work, body string }{{workList, namedProps}, {"… all properties", allProps}} {
		got, err := r.alternate(ctx, listing("flowdrive", ours[0], list.body), listing("webdav", theirs[0], list.body))
		if err != nil {
			return nil, err
		}
		rows = append(rows, atLeast(list.work, rates(got[0]), rates(got[1]), 5).
			noted("%s files; one connection; %s; the limit is plain x/net/webdav over a folder: %s", plain(float64(r.members)), describe(got[0]), describe(got[1])))
	}
	member := func(c *connection) *Value { return measured(Bytes, float64(c.body)/float64(r.members+1)) }
	rows = append(rows, atMost("… bytes a member", member(ours[0]), member(theirs[0]), 400))
	return append(rows, atLeast(workFile, rates(read[0]), rates(read[1]), 0.7).
		noted("%s; the limit is plain x/net/webdav over a folder: %s", describe(read[0]), describe(read[1]))), nil
}

// listing is a side that lists the folder again and again.
func listing(name string, c *connection, body string) side {
	return side{name, func(ctx context.Context, d time.Duration) (sample, error) {
		return load(ctx, 1, d, func(context.Context, int) error {
			return c.ask("PROPFIND", listed, "\r\nDepth: 1", []byte(body), http.StatusMultiStatus)
		})
	}, nil}
}

// fileContent is what is in each of the files.
func fileContent() []byte { return bytes.Repeat([]byte("0123456789"), 50) }

// fillDocuments gives the caller the files in a data folder.
func (r *run) fillDocuments(ctx context.Context, data string) error {
	h, err := openHouse(ctx, data, houseOptions{})
	if err != nil {
		return err
	}
	content := fileContent()
	at := engine.DocumentPath{caller, "files"}
	if _, err = h.engine.Files.MakeFolder(ctx, h.request(), at); err == nil {
		err = parallel(ctx, 2*callers, r.members, func(ctx context.Context, i int) error {
			up := contents.Upload{MediaType: "application/json", Size: int64(len(content)), Body: bytes.NewReader(content)}
			_, err := h.engine.Files.PutDocument(ctx, h.request(), append(at[:2:2], fileName(i)), up)
			return err
		})
	}
	return errors.Join(err, h.close())
}

// plainFolder makes a folder of the disk with the same files at the same path
// below "/dav".
func (r *run) plainFolder() (string, error) {
	content := fileContent()
	top, err := r.folder("webdav")
	if err != nil {
		return "", err
	}
	folder := filepath.Join(top, "Documents", caller, "files")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	for i := range r.members {
		if err := os.WriteFile(filepath.Join(folder, fileName(i)), content, 0o600); err != nil {
			return "", err
		}
	}
	return top, nil
}
