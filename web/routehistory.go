package web

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"flowdrive/engine"
	"flowdrive/internal/errs"
	"flowdrive/route/diagram"
)

// mostDiffLines is how many lines of a comparison or of a text a page shows.
const mostDiffLines = 2000

// routeVersionsView is what routeversions.html shows.
type routeVersionsView struct {
	Name, Title string
	Page        string // address of the page of the route
	Lede        string
	Tabs        []tab
	Versions    []comparedVersion
	Earlier     string // address of the folder of all, "" if all are listed
	From, To    *shownVersion
	Lines       []pairedLine
	Equal, Cut  bool
	Languages   bool // one is in YAML and the other in JSON: complete forms are compared
}

// comparedVersion is a version in the list.
type comparedVersion struct {
	Number   int64
	Href     string
	At       time.Time
	Current  bool
	From, To bool // it is one of those that are compared
}

// shownVersion is a version that is drawn.
type shownVersion struct {
	Number  int64
	Picture template.HTML
	Tall    template.HTML
}

// pairedLine is a line of two texts beside each other.
type pairedLine struct {
	Old, New       string
	OldNo, NewNo   int // 0: there is none
	Removed, Added bool
	Gap            bool // equal lines are left out here
}

// drawRouteVersions lists the versions of a route and compares two of them, the last
// ones if the address names none.
func drawRouteVersions(x *visit) error {
	o, err := x.Queries.RouteOverview(x.r.Context(), x.by, x.r.PathValue("name"))
	if err != nil {
		return err
	}
	name, at := o.Stored.Name, routeFolder+"/"+url.PathEscape(o.Stored.Name)
	v := &routeVersionsView{Name: name, Title: cmp.Or(o.Drawn.Route.Title, name), Page: pageOfRoute(name), Tabs: tabsOfRoute(o.Drawn.Route, "versions")}
	count := len(o.Versions)
	current := o.Versions[count-1].Version
	from, to := o.Versions[max(0, count-2)].Version, current
	if from, err = x.versionParameter("from", from); err != nil {
		return err
	}
	if to, err = x.versionParameter("to", to); err != nil {
		return err
	}
	for i := range slices.Backward(o.Versions) {
		n := o.Versions[i].Version
		v.Versions = append(v.Versions, comparedVersion{
			Number: n, Href: fmt.Sprintf("%s/versions/%d", v.Page, n), At: o.Versions[i].Created, Current: n == current, From: n == from, To: n == to,
		})
		if len(v.Versions) == mostVersions && i > 0 {
			v.Earlier = at + "/Versions/"
			break
		}
	}
	v.Lede = plural(count, "version") + ". Cases go on in the version that they were started with until they are moved."
	if from != to {
		texts, err := x.Queries.RouteTexts(x.r.Context(), x.by, name, from, to)
		if err != nil {
			return err
		}
		v.compare(&texts[0], &texts[1])
	}
	return x.draw("routeversions.html", head{Title: "Versions: " + v.Title, Nav: "routes", Path: at + "/Versions/", JSON: at + "/Versions/.contents"}, v)
}

// versionParameter returns the version that a parameter names, or that one without it.
func (x *visit) versionParameter(name string, without int64) (int64, error) {
	if !x.query.Has(name) {
		return without, nil
	}
	n, err := versionNumber(x.query.Get(name))
	if err != nil {
		return 0, errs.New(errs.BadParameter, "%s is not the number of a version.", name)
	}
	return n, nil
}

// versionNumber reads the number of a version as it is written in addresses.
func versionNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || strconv.FormatInt(n, 10) != text {
		return 0, absent()
	}
	return n, nil
}

// compare fills in what differs between two versions.
func (v *routeVersionsView) compare(from, to *engine.RouteText) {
	v.From, v.To = showVersion(from, "old"), showVersion(to, "new")
	older, newer := from.Source, to.Source
	if v.Languages = from.YAML != to.YAML; v.Languages {
		older, newer = from.Form, to.Form
	}
	v.Lines, v.Cut = sideBySide(older, newer)
	v.Equal = len(v.Lines) == 0
}

func showVersion(t *engine.RouteText, id string) *shownVersion {
	return &shownVersion{
		Number: t.Version, Picture: picture(t.Drawn.Picture, diagram.Options{ID: id + "-wide"}),
		Tall: picture(t.Drawn.Picture, diagram.Options{ID: id + "-tall", Down: true}),
	}
}

// sideBySide returns the lines in which two texts differ, with some around them; cut
// says that there are more.
func sideBySide(older, newer []byte) (out []pairedLine, cut bool) {
	text := string(diff.Diff("old", older, "new", newer))
	oldNo, newNo, removed := 0, 0, 0 // removed: the first of the lines that may stand beside added ones
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		kind, rest := line[:min(1, len(line))], line[min(1, len(line)):]
		switch {
		case strings.HasPrefix(line, "@@ "):
			var oldCount, newCount int
			if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &oldNo, &oldCount, &newNo, &newCount); err != nil {
				return out, true
			}
			out, removed = append(out, pairedLine{Gap: true}), len(out)+1
			continue
		case len(out) == 0 || kind == `\`:
			continue // what is above the first lines, and that no line feed ends the last one
		case len(out) >= mostDiffLines:
			return out, true
		case kind == "-":
			out = append(out, pairedLine{Old: rest, OldNo: oldNo, Removed: true})
			oldNo++
		case kind == "+":
			if removed < len(out) {
				out[removed].New, out[removed].NewNo, out[removed].Added = rest, newNo, true
				removed++
			} else {
				out = append(out, pairedLine{New: rest, NewNo: newNo, Added: true})
				removed = len(out)
			}
			newNo++
		default:
			out = append(out, pairedLine{Old: rest, New: rest, OldNo: oldNo, NewNo: newNo})
			oldNo, newNo, removed = oldNo+1, newNo+1, len(out)
		}
	}
	return out, false
}

// routeVersionView is what routeversion.html shows.
type routeVersionView struct {
	Name, Title string
	Page        string
	Number      int64
	Current     int64
	At          time.Time
	Shown       *shownVersion
	Source      string
	Cut         bool
	Compare     string // address of the comparison with the one before, "" of the first
	Drive       string
}

// drawRouteVersion shows a version of a route.
func drawRouteVersion(x *visit) error {
	n, err := versionNumber(x.r.PathValue("version"))
	if err != nil {
		return err
	}
	o, err := x.Queries.RouteOverview(x.r.Context(), x.by, x.r.PathValue("name"))
	if err != nil {
		return err
	}
	texts, err := x.Queries.RouteTexts(x.r.Context(), x.by, o.Stored.Name, n)
	if err != nil {
		return err
	}
	t := &texts[0]
	at := fmt.Sprintf("%s/%s/Versions/%d", routeFolder, url.PathEscape(o.Stored.Name), n)
	v := &routeVersionView{
		Name: o.Stored.Name, Title: cmp.Or(t.Drawn.Route.Title, o.Stored.Name), Page: pageOfRoute(o.Stored.Name), Number: n,
		Current: o.Drawn.Version, At: t.Drawn.Created, Shown: showVersion(t, "this"), Drive: at,
	}
	v.Source, v.Cut = firstLines(t.Source, mostDiffLines)
	if n > 1 {
		v.Compare = fmt.Sprintf("%s/versions?from=%d&to=%d", v.Page, n-1, n)
	}
	return x.draw("routeversion.html", head{Title: fmt.Sprintf("Version %d: %s", n, v.Title), Nav: "routes", Path: at + ".json", JSON: at + ".json"}, v)
}

// firstLines returns so many lines of a text; cut says that there are more.
func firstLines(text []byte, most int) (first string, cut bool) {
	lines := bytes.SplitAfterN(text, []byte("\n"), most+1)
	if len(lines) > most && len(lines[most]) > 0 {
		return string(bytes.Join(lines[:most], nil)), true
	}
	return string(text), false
}
