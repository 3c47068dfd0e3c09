package web

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"flowdrive/davfs/dav"
	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/internal/identity"
	"flowdrive/store"
)

// documentRows is how many documents a page lists.
const documentRows = 200

// historyName is the folder of what was overwritten and deleted.
const historyName = ".history"

// documentForms are the pages of the documents, and what their forms do.
func documentPages() []page {
	tree := page{
		pattern: "/documents/{path...}", query: []string{"after", "do", "name", "of"}, draw: drawDocuments,
		forms: documentCommands(), fields: documentFields(), put: putDocument,
	}
	tree.post = func(x *visit) error {
		if strings.HasPrefix(x.r.Header.Get("Content-Type"), "multipart/form-data") {
			return uploadDocuments(x, tree)
		}
		return x.submit(x, tree)
	}
	return []page{
		{pattern: "/documents", draw: func(x *visit) error { return x.redirect("/documents/" + url.PathEscape(x.Me())) }},
		tree,
		{pattern: "/attachments", query: []string{"after", "do", "name"}, draw: drawAttachments, forms: attachmentForms(), fields: map[string]string{"delete": "name"}},
	}
}

// DocumentFolder is what is at a path below Documents/.
type DocumentFolder struct {
	Top      store.Document
	Below    []store.Document // its members, in no order
	Writable bool             // the caller may change it
	Locked   map[int64]string // who has locked a member, by its id
}

// documentsView is what documents.html shows.
type documentsView struct {
	Title    string
	Lede     string
	Areas    []tab
	Quota    quotaView
	Here     string // the address of the page
	Drive    string // what events name, to be live
	Writable bool
	Ask      *asking
	Upload   *uploadForm
	Rows     []documentRow
	Next     string
	File     *documentFile
	Old      []oldVersion // of .history/
	IsOld    bool         // the page is of .history/
	History  string       // its address
	Empty    string
}

type quotaView struct {
	Used, All string
	Width     int // of 100
}

// documentRow is a document or folder in a list.
type documentRow struct {
	ID      int64
	Name    string
	Href    string
	Folder  bool
	Kind    string
	Size    string
	Author  Person
	Changed time.Time
	Locked  string // by whom
	Menu    []anchor
}

// documentDrawing draws the pages of documents.
type documentDrawing struct{ *visit }

func (x *visit) documentDrawing() documentDrawing { return documentDrawing{x} }

// documentPath returns the path of the page below Documents/.
func (x documentDrawing) documentPath() engine.DocumentPath {
	return strings.FieldsFunc(x.r.PathValue("path"), func(r rune) bool { return r == '/' })
}

// pageOfDocument returns the address of the page of a path below Documents/, onDrive that
// of the resource.
func pageOfDocument(path ...string) string { return "/documents/" + escapedPath(path) }

func onDrive(path ...string) string { return "/dav/Documents/" + escapedPath(path) }

func escapedPath(path []string) string {
	out := make([]string, len(path))
	for i, name := range path {
		out[i] = url.PathEscape(name)
	}
	return strings.Join(out, "/")
}

func under(path engine.DocumentPath, name string) []string {
	return append(slices.Clip([]string(path)), name)
}

func drawDocuments(x *visit) error {
	path := x.documentDrawing().documentPath()
	if len(path) == 0 {
		return x.redirect("/documents")
	}
	if path[len(path)-1] == historyName {
		return drawVersions(x, path[:len(path)-1])
	}
	found, err := x.Queries.Documents(x.r.Context(), x.by, path)
	if err != nil {
		return err
	}
	v := &documentsView{Title: path[len(path)-1], Here: pageOfDocument(path...), Drive: onDrive(path...), Writable: found.Writable}
	h := head{Title: v.Title, Nav: "documents", Path: path.String(), JSON: onDrive(path...), Script: "upload.js"}
	if err := x.areas(v, path[0]); err != nil {
		return err
	}
	if !found.Top.Folder {
		if err := x.documentDrawing().drawFile(v, path, found); err != nil {
			return err
		}
		return x.draw("documents.html", h, v)
	}
	h.JSON += "/.contents"
	v.History = pageOfDocument(under(path, historyName)...)
	if err := x.documentDrawing().listDocuments(v, path, found); err != nil {
		return err
	}
	if v.Writable {
		v.Upload = x.documentDrawing().uploadForm(path)
	}
	v.Ask = x.documentDrawing().askDocument(path, found)
	return x.draw("documents.html", h, v)
}

// areas adds the areas of the caller as tabs, and how much is stored.
func (x *visit) areas(v *documentsView, now string) error {
	roots, err := x.Queries.DocumentAreas(x.r.Context(), x.by)
	if err != nil {
		return err
	}
	slices.SortStableFunc(roots, func(a, b string) int {
		return cmp.Compare(x.documentDrawing().areaRank(a), x.documentDrawing().areaRank(b))
	})
	for _, name := range roots {
		t := tab{Label: name, Href: pageOfDocument(name), Current: name == now}
		if name == x.Me() {
			t.Label = "Mine"
		}
		v.Areas = append(v.Areas, t)
	}
	if !slices.ContainsFunc(v.Areas, func(t tab) bool { return t.Current }) && now != "" { // an administrator looks
		v.Areas = append(v.Areas, tab{Label: now, Href: pageOfDocument(now), Current: true})
	}
	v.Areas = append(v.Areas, tab{Label: "Attachments", Href: "/attachments", Current: now == ""})
	q, err := x.Queries.Quota(x.r.Context(), x.by)
	if err != nil {
		return err
	}
	all := q.Used + q.Available
	v.Quota = quotaView{Used: sizeOf(q.Used), All: sizeOf(all)}
	if all > 0 {
		v.Quota.Width = int(q.Used * 100 / all)
	}
	switch now {
	case x.Me():
		v.Lede = "Files of yours, the same as the mounted folder."
	case "everyone":
		v.Lede = "All users read these files. Only administrators write here."
	case "":
		v.Lede = "Files that were attached to cases, or wait to be the input of one."
	default:
		v.Lede = "A file area of the team, the same as the mounted folder."
		if !v.Writable {
			v.Lede = "You may read these files, and not change them."
		}
	}
	return nil
}

// areaRank orders areas: one's own, those of teams, that of everyone.
func (x documentDrawing) areaRank(name string) int {
	switch name {
	case x.Me():
		return 0
	case "everyone":
		return 2
	}
	return 1
}

// documentKey orders documents: folders first, then by name.
func documentKey(d *store.Document) string {
	kind := "f"
	if d.Folder {
		kind = "d"
	}
	return kind + identity.Fold(d.Name) + "\x00" + d.Name
}

// listDocuments adds the page of members that the address asks for.
func (x documentDrawing) listDocuments(v *documentsView, path engine.DocumentPath, found *DocumentFolder) error {
	slices.SortFunc(found.Below, func(a, b store.Document) int { return strings.Compare(documentKey(&a), documentKey(&b)) })
	shown := found.Below
	if place := x.query.Get("after"); place != "" {
		if place[0] != 'd' && place[0] != 'f' {
			return errs.New(errs.BadParameter, "after is not a place in this list; follow the link to the next page.")
		}
		at := store.Document{Folder: place[0] == 'd', Name: place[1:]}
		i, there := slices.BinarySearchFunc(shown, at, func(a, b store.Document) int { return strings.Compare(documentKey(&a), documentKey(&b)) })
		if there {
			i++
		}
		shown = shown[i:]
	}
	if len(shown) > documentRows {
		shown = shown[:documentRows]
		last := &shown[len(shown)-1]
		v.Next = x.with("after", documentKey(last)[:1]+last.Name, "do", "", "name", "")
		x.w.Header().Add("Link", "<"+v.Next+`>; rel="next"`)
	}
	for i := range shown {
		v.Rows = append(v.Rows, x.documentRow(path, &shown[i], found))
	}
	v.Empty = "There is nothing here."
	if v.Writable {
		v.Empty = "There is nothing here yet."
	}
	return nil
}

func (x documentDrawing) documentRow(path engine.DocumentPath, d *store.Document, found *DocumentFolder) documentRow {
	row := documentRow{
		ID: d.ID, Name: d.Name, Folder: d.Folder, Kind: kindOf(d), Changed: d.Modified, Href: pageOfDocument(under(path, d.Name)...),
		Author: x.Queries.PersonByID(d.AuthorID),
	}
	if by := found.Locked[d.ID]; by != "" {
		row.Locked = x.Queries.Person(by).Shown()
	}
	if !d.Folder {
		row.Size = sizeOf(d.Size)
		row.Menu = append(row.Menu, anchor{Label: "Download", Href: onDrive(under(path, d.Name)...)})
	}
	commands := []string{"copy"}
	if found.Writable {
		commands = []string{"rename", "move", "copy", "delete"}
		if row.Locked != "" && (x.by.Admin() || path[0] == x.Me()) {
			commands = append(commands, "unlock")
		}
	}
	for _, do := range commands {
		row.Menu = append(row.Menu, anchor{Label: documentTitles()[do][0] + "…", Href: x.with("do", do, "name", d.Name) + "#ask"})
	}
	return row
}

// kindOf returns what a document is, in a word.
func kindOf(d *store.Document) string {
	if d.Folder {
		return "Folder"
	}
	whole, _, _ := strings.Cut(d.MediaType, ";")
	class, rest, _ := strings.Cut(whole, "/")
	switch {
	case whole == "text/csv":
		return "Table"
	case whole == "text/calendar":
		return "Calendar"
	case whole == "application/pdf":
		return "PDF"
	case whole == "application/json", strings.HasSuffix(rest, "yaml"):
		return "Data"
	case strings.Contains(rest, "spreadsheet"), strings.Contains(rest, "ms-excel"):
		return "Spreadsheet"
	case strings.Contains(rest, "opendocument.text"), strings.Contains(rest, "wordprocessing"), strings.Contains(rest, "msword"):
		return "Document"
	case strings.Contains(rest, "zip"), strings.Contains(rest, "tar"):
		return "Archive"
	case class == "text":
		return "Text"
	case class == "image":
		return "Image"
	case class == "audio", class == "video":
		return strings.ToUpper(class[:1]) + class[1:]
	}
	return "File"
}

// documentFile is what the page of a file shows of it.
type documentFile struct {
	preview
	Facts    string
	Download string
	Locked   string
	Menu     []anchor
	Versions string // address of its old versions
	Author   Person
	Changed  time.Time
}

func (x documentDrawing) drawFile(v *documentsView, path engine.DocumentPath, found *DocumentFolder) error {
	d := &found.Top
	drive := onDrive(path...)
	f := &documentFile{
		Facts: kindOf(d) + ", " + sizeOf(d.Size) + ", " + d.MediaType, Download: drive,
		Author: x.Queries.PersonByID(d.AuthorID), Changed: d.Modified,
		Versions: pageOfDocument(under(path[:len(path)-1], historyName)...) + "?of=" + url.QueryEscape(path[len(path)-1]),
	}
	v.File = f
	above := pageOfDocument(path[:len(path)-1]...)
	ask := url.QueryEscape(path[len(path)-1])
	for _, do := range []string{"rename", "move", "copy", "delete"} {
		if found.Writable || do == "copy" {
			f.Menu = append(f.Menu, anchor{Label: documentTitles()[do][0] + "…", Href: above + "?do=" + do + "&name=" + ask + "#ask"})
		}
	}
	var err error
	f.preview, err = previewOf(x.visit, drive, d.MediaType, d.Size)
	return err
}

// hrefOf returns the address of a page of the drive's path of a document.
func hrefOf(drivePath string) string {
	below, ok := strings.CutPrefix(drivePath, "/dav/Documents/")
	if !ok {
		return drivePath
	}
	return dav.Href("documents", below)
}
