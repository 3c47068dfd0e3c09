package web

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"flowdrive/engine"
	"flowdrive/internal/errs"
)

// oldVersion is a row of .history/: what a document was, or a folder of such rows.
type oldVersion struct {
	Name     string // of the document
	File     string // below .history/
	Size     string
	Replaced time.Time
	By       Person // who has replaced it
	Author   Person
	Href     string
	Now      string // where it was
	Folder   bool   // of versions
	Key      string
}

// versionForm is what .contents of .history/ has of a version.
type versionForm struct {
	Name       string    `json:"name"`
	Kind       string    `json:"kind"`
	Size       int64     `json:"size"`
	Author     string    `json:"author"`
	Replaced   time.Time `json:"replaced"`
	ReplacedBy string    `json:"replacedBy"`
	Original   string    `json:"original"`
}

// drawVersions shows what was overwritten and deleted in a folder. A folder of which
// nothing is kept has an empty list.
func drawVersions(x *visit, folder engine.DocumentPath) error {
	if len(folder) == 0 {
		return absent()
	}
	found, err := x.Queries.Documents(x.r.Context(), x.by, folder)
	if err != nil {
		return err
	}
	at := under(folder, historyName)
	v := &documentsView{
		Title: "Old versions", Here: pageOfDocument(at...), Drive: onDrive(folder...), Writable: found.Writable, IsOld: true,
		Empty: "Nothing was overwritten or deleted here lately.",
	}
	if err := x.areas(v, folder[0]); err != nil {
		return err
	}
	v.Lede = "What was overwritten or deleted in " + path.Join(folder...) + ", the newest first."
	var forms []versionForm
	switch err := x.readJSON(onDrive(at...)+"/.contents", &forms); {
	case errs.KindOf(err) == errs.NotFound: // as long as it holds nothing
	case err != nil:
		return err
	}
	of := x.query.Get("of")
	for _, f := range slices.Backward(forms) {
		name := f.Original[strings.LastIndexByte(f.Original, '/')+1:]
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		if of != "" && of != name {
			continue
		}
		v.Old = append(v.Old, oldVersion{
			Name: name, File: f.Name, Size: sizeOf(f.Size), Replaced: f.Replaced, By: x.Queries.Person(f.ReplacedBy), Author: x.Queries.Person(f.Author),
			Href: onDrive(under(at, f.Name)...), Folder: f.Kind == "folder", Key: x.Key(),
		})
	}
	slices.SortStableFunc(v.Old, func(a, b oldVersion) int { return b.Replaced.Compare(a.Replaced) })
	if x.asked() == "purge" && v.Writable && x.about() != "" {
		v.Ask = x.asks(asking{
			Do: "purge", Title: "Delete " + x.about() + " for good", Text: "It cannot be brought back.", Submit: "Delete for good",
			Cancel: x.with("do", "", "name", ""), Hidden: []hidden{{"name", x.about()}},
		}, purgeVersion)
	}
	h := head{Title: "Old versions", Nav: "documents", Path: folder.String() + "/" + historyName, JSON: onDrive(at...) + "/.contents"}
	return x.draw("documents.html", h, v)
}

// restoreVersion brings an old version back to where it was.
func restoreVersion(x *visit, v url.Values) (*act, error) {
	at, err := x.documentDrawing().named(v)
	if err != nil {
		return nil, err
	}
	to := strings.TrimSpace(v.Get("to"))
	if to == "" || strings.Contains(to, "/") || len(at) < 3 {
		return nil, missing("to")
	}
	back := under(at[:len(at)-2], to)
	return &act{
		requests: []driveRequest{{Method: "COPY", Path: onDrive(at...), Header: [][2]string{{"Destination", onDrive(back...)}}}},
		done: func([]*driveAnswer) notice {
			return notice{Text: "Brought back:", Link: pageOfDocument(back...), Name: to}
		},
	}, nil
}

func purgeVersion(x *visit, v url.Values) (*act, error) {
	at, err := x.documentDrawing().named(v)
	if err != nil {
		return nil, err
	}
	return &act{requests: []driveRequest{{Method: "DELETE", Path: onDrive(at...)}}, done: said("The old version is deleted.")}, nil
}
