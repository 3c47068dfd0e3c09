package davfs

import (
	"html/template"
	"iter"
	"net/http"
	"strconv"
	"time"

	"flowdrive/davfs/dav"
	"flowdrive/internal/mediatype"
)

// maxListed bounds the listing for browsers, which ask for text/html. Programs that read
// the links, as lftp and wget do, ask for anything and would not notice that some are missing.
const maxListed = 1000

// newListing returns the page of a folder. The template escapes every name.
func newListing() *template.Template {
	return template.Must(template.New("listing").Parse(`<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>{{.Path}}</title>
<h1>{{.Path}}</h1>
{{with .Page}}<p><a href="{{.}}">As a page</a></p>
{{end}}<table>
{{with .Parent}}<tr><td><a href="{{.}}">..</a></td></tr>
{{end}}{{range .Members}}<tr><td><a href="{{.Href}}">{{.Name}}</a></td><td>{{.Size}}</td><td>{{.Modified}}</td></tr>
{{end}}</table>
{{with .More}}<p>… and {{.}} more.</p>
{{end}}</html>
`))
}

// listingPage is what the page says.
type listingPage struct {
	Path, Parent string
	Page         string // only for browsers: programs would read the link as a file
	Members      iter.Seq[listed]
	More         int // known once the members are told

	most   int   // how many are told; 0: all
	failed error // in the middle of the page
}

// listed is a line of the listing.
type listed struct{ Href, Name, Size, Modified string }

// getFolder answers with a page for browsers and for programs that follow links. It links by absolute
// paths, so that the address with and without slash shows the same.
func (d *drive) getFolder(w http.ResponseWriter, x *request, n folder) error {
	if _, err := n.stat(x.r.Context()); err != nil {
		return err
	}
	rest, members, err := x.firstPart(x.r.Context(), n)
	if err != nil {
		return err
	}
	page := listingPage{Path: x.at.String()}
	if mediatype.Quality(x.r.Header["Accept"], "text/html", "text/*") > 0 {
		page.most = maxListed
		if d.PageOf != nil {
			page.Page = d.PageOf(x.at.String())
		}
	}
	if depth := len(x.at.Segments); depth > 0 {
		page.Path += "/"
		page.Parent = dav.FolderHref(dav.Href(x.at.Segments[:depth-1]...))
	}
	page.Members = func(yield func(listed) bool) { page.failed = page.tell(x, members, rest, yield) }
	header := w.Header()
	header.Set("Content-Type", typeHTML)
	header.Set("Cache-Control", "private, no-cache")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	w.WriteHeader(http.StatusOK)
	if x.r.Method == http.MethodHead {
		return nil
	}
	if err := d.listing.Execute(w, &page); err != nil {
		return err
	}
	return page.failed
}

// tell tells of the members, and of those behind them. Of each part nothing is held once it is
// told of. What is more than the page shows is counted.
func (p *listingPage) tell(x *request, members []*info, rest *shown, yield func(listed) bool) (err error) {
	for told := 0; ; {
		for _, m := range members {
			if p.most > 0 && told == p.most {
				p.More++
				continue
			}
			if told++; !yield(listing(x.at, m)) {
				return nil
			}
		}
		if !rest.more {
			return nil
		}
		if members, err = rest.next(x.r.Context()); err != nil {
			return err
		}
	}
}

func listing(at address, m *info) listed {
	line := listed{
		Href:     dav.Href(append(at.Segments[:len(at.Segments):len(at.Segments)], m.name)...),
		Name:     m.name,
		Modified: m.modified.UTC().Format(time.RFC3339),
	}
	if m.dir {
		line.Href, line.Name = dav.FolderHref(line.Href), line.Name+"/"
	} else {
		line.Size = strconv.FormatInt(m.size, 10)
	}
	return line
}
