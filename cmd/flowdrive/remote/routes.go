package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
	"flowdrive/internal/document"
	"flowdrive/route"
)

// RouteCommands are the commands about the routes of a server.
func (e *Env) RouteCommands() []*cobra.Command {
	return []*cobra.Command{e.routeList(), e.routeGet(), e.routePut(), e.routeDiff(), e.routeGraph()}
}

func (e *Env) routeList() *cobra.Command {
	c := output.Formats(&cobra.Command{
		Use: "list", Short: "List the routes that you may see", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	})
	return e.command(c, func(ctx context.Context, s *session, _ []string) error {
		var items []output.Item
		for r, err := range s.Routes(ctx) {
			if err != nil {
				return err
			}
			items = append(items, output.Item{
				JSON: r.Raw(), Name: r.Name, Cells: []string{r.Name, r.Title, fmt.Sprint(r.Version), r.Author, s.when(ctx, &r.Modified)},
			})
		}
		return s.Show([]string{"route", "title", "version", "author", "changed"}, items)
	})
}

func (e *Env) routeGet() *cobra.Command {
	var version int
	c := &cobra.Command{
		Use: "get ROUTE", Short: "Print the document of a route, as its author stored it",
		Long: "Prints the document of a route, as its author stored it. With --version it prints the complete\n" +
			"form of that version, as JSON: stored as ROUTE.json with route put, the route is again as it was.",
		Example: "  flowdrive route get purchase > purchase.yaml\n  flowdrive route get purchase --version 1 > purchase.json",
		Args:    cobra.ExactArgs(1),
	}
	c.Flags().IntVar(&version, "version", 0, "an older version, by its number")
	c.ValidArgsFunction = e.completeWith((*session).routeNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		if c.Flags().Changed("version") {
			old, err := s.RouteVersion(ctx, args[0], version)
			if client.IsSlug(err, "not-found") {
				return noVersion(ctx, s, args[0], version, err)
			}
			if err != nil {
				return err
			}
			return s.Document(old.Raw())
		}
		source, err := s.RouteSource(ctx, args[0])
		if err != nil {
			return err
		}
		if _, err = s.To.Write(source.Text); err != nil {
			return err
		}
		return s.remember(args[0], source.ETag)
	})
}

// noVersion says which versions there are of a route that lacks one.
func noVersion(ctx context.Context, s *session, name string, version int, err error) error {
	now, missing := s.Route(ctx, name)
	if missing != nil {
		return missing
	}
	return codedError{fmt.Errorf("%s has no version %d: the newest is %d: %w", now.Name, version, now.Version, err), exitNotFound}
}

func (e *Env) routePut() *cobra.Command {
	var p routePut
	c := &cobra.Command{
		Use: "put FILE...", Short: "Store routes, each under the name of its file",
		Long: "Stores routes, each under the name of its file: bug.yaml becomes the route bug, and\n" +
			"bug.scenario.yaml its scenario. A route and its scenario that are given together are stored\n" +
			"together, also if each fits only the other; a route that starts cases of another one comes\n" +
			"after that. With --dry-run each is checked with what is on the server.\n\n" +
			"It prints the version and the warnings. If somebody else has stored another version since you\n" +
			"last got or put the route with this program, it is refused unless you say --force.",
		Example: "  flowdrive route put purchase.yaml purchase.scenario.yaml",
		Args:    cobra.MinimumNArgs(1),
	}
	c.Flags().BoolVar(&p.DryRun, "dry-run", false, "check it, and store nothing")
	c.Flags().BoolVar(&p.Migrate, "migrate", false, "move running cases to the new version")
	c.Flags().BoolVar(&p.force, "force", false, "also if somebody else has stored another version since you last got or put it")
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		for _, name := range args {
			if !slices.Contains(routeEnds, filepath.Ext(name)) {
				return e.Usage(fmt.Errorf("%s: the name of a route's file ends with .yaml or .json", output.Clean(name)))
			}
		}
		if !p.DryRun {
			p.together = scenariosOf(args)
		}
		args = slices.DeleteFunc(slices.Clone(args), func(name string) bool { return slices.Contains(slices.Collect(maps.Values(p.together)), name) })
		return s.each(inOrder(s, args), func(name string) error { return p.put(ctx, s, name) })
	})
}

// routePut is how routes are stored.
type routePut struct {
	client.PutOptions

	force    bool
	together map[string]string // scenarios, by the files of their routes
}

// put stores the route or scenario in a file.
func (p routePut) put(ctx context.Context, s *session, name string) error {
	text, err := s.document(name)
	if err != nil {
		return err
	}
	if beside := p.together[name]; beside != "" {
		story, err := s.document(beside)
		if err == nil {
			err = s.KeepScenario(ctx, filepath.Base(beside), story)
		}
		if err != nil {
			return named(beside, err)
		}
	}
	stem := stemOf(name)
	before, err := s.Route(ctx, stem)
	if err != nil && !client.IsSlug(err, "not-found") {
		return err
	}
	isScenario := strings.HasSuffix(strings.ToLower(stem), ".scenario")
	if before.Version > 0 && !p.force {
		if p.Match, err = s.remembered(stem); err != nil {
			return err
		}
	}
	r, err := s.PutRoute(ctx, filepath.Base(name), text, p.PutOptions)
	switch {
	case p.Match != "" && client.IsSlug(err, "precondition"):
		return codedError{aboutError{err, fmt.Sprintf("%s: since you last got or put it here, another version was stored%s; flowdrive route diff %[1]s shows what differs, --force stores it all the same", output.Clean(name), whose(err))}, exitConflict}
	case client.IsSlug(err, "scenario-broken"):
		return named(p.scenarioOf(name, err), err)
	case err != nil:
		return named(name, err)
	}
	for _, warning := range slices.Concat(r.Warnings, r.Notes) {
		if err := s.say("%s", output.WarningLine(name, warning)); err != nil {
			return err
		}
	}
	if isScenario {
		return nil
	}
	if err := p.tell(s, before.Version, &r); err != nil || p.DryRun {
		return err
	}
	stored, err := s.RouteSource(ctx, stem)
	if err != nil || !bytes.Equal(stored.Text, text) {
		return err // somebody else was faster: what is there is not what was stored here
	}
	return s.remember(stem, stored.ETag)
}

// storedVersion matches what a server says of the version that is stored.
var storedVersion = regexp.MustCompile(`version \d+, which .* stored at [0-9: +-]+[A-Z]*`)

// whose returns which version is stored, and by whom, if the server has said so.
func whose(err error) string {
	if found := storedVersion.FindString(err.Error()); found != "" {
		return ": the server has " + output.Clean(found)
	}
	return ""
}

// scenarioOf returns the file whose faults an error has: a scenario that is given, too, or that
// is only on the server.
func (p routePut) scenarioOf(name string, err error) string {
	if beside := p.together[name]; beside != "" {
		return beside
	}
	problem, ok := errors.AsType[*client.Problem](err)
	if !ok || problem.Scenario == "" {
		return name
	}
	file := path.Base(problem.Scenario)
	if plain, err := url.PathUnescape(file); err == nil {
		file = plain
	}
	if file == filepath.Base(name) {
		return name
	}
	return file + " (on the server)"
}

// tell prints the version that a route now has, or would have, and what becomes of its cases.
func (p routePut) tell(s *session, before int, r *client.Route) error {
	text := fmt.Sprintf("%s: version %d", r.Name, r.Version)
	switch {
	case r.Version == before:
		text += ", unchanged"
	case p.DryRun:
		text = fmt.Sprintf("%s: would be version %d", r.Name, r.Version)
	}
	if err := s.Line("%s", text); err != nil || r.Migration == nil {
		return err
	}
	m := r.Migration
	verb := "moved to version"
	if p.DryRun {
		verb = "would move to version"
	}
	cases := "cases"
	if m.Moved == 1 {
		cases = "case"
	}
	text = fmt.Sprintf("%s: %d %s %s %d", r.Name, m.Moved, cases, verb, m.Version)
	const most = 20 // in a line
	for i, id := range m.Cases[:min(len(m.Cases), most)] {
		if text += ", "; i == 0 {
			text = strings.TrimSuffix(text, ", ") + ": "
		}
		text += fmt.Sprint(id)
	}
	if len(m.Cases) > most {
		text += ", …"
	}
	if err := s.Line("%s", text); err != nil {
		return err
	}
	for _, f := range m.Faults {
		if err := s.say("%s", output.WarningLine(r.Name, fmt.Sprintf("case %d stays at its version: %s", f.Case, f.Detail))); err != nil {
			return err
		}
	}
	return nil
}

func stemOf(file string) string { return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) }

// inOrder returns the files with each route after those of them that it names: a route whose
// cases are children of another one must be there before that one. A file that cannot be read
// is told of when it is stored.
func inOrder(s *session, files []string) (ordered []string) {
	byRoute := map[string]string{}
	for _, file := range files {
		byRoute[strings.ToLower(stemOf(file))] = file
	}
	seen := map[string]bool{}
	var add func(file string)
	add = func(file string) {
		if seen[file] {
			return
		}
		seen[file] = true
		for _, name := range namedIn(s, file) {
			if other := byRoute[strings.ToLower(name)]; other != "" {
				add(other)
			}
		}
		ordered = append(ordered, file)
	}
	for _, file := range files {
		add(file)
	}
	return ordered
}

// namedIn returns the routes that a document names, none if it cannot be read.
func namedIn(s *session, file string) []string {
	text, err := s.document(file)
	if err != nil {
		return nil
	}
	node, err := document.Parse(text, filepath.Ext(file) != ".json")
	if err != nil {
		return nil
	}
	return route.Named(node)
}

// scenariosOf returns the files of scenarios whose route is among the files, too, by the file of
// the route.
func scenariosOf(files []string) map[string]string {
	routes := map[string]string{}
	for _, file := range files {
		routes[stemOf(file)] = file
	}
	out := map[string]string{}
	for _, file := range files {
		if route, is := strings.CutSuffix(stemOf(file), ".scenario"); is && routes[route] != "" {
			out[routes[route]] = file
		}
	}
	return out
}

func (e *Env) routeDiff() *cobra.Command {
	c := &cobra.Command{
		Use: "diff FILE [ROUTE]", Short: "Compare a file with the route on the server",
		Long: "Compares a file with the route of its name on the server, or with ROUTE. It exits with 1 if they\ndiffer.",
		Args: cobra.RangeArgs(1, 2),
	}
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		document, err := s.document(args[0])
		if err != nil {
			return err
		}
		name := filepath.Base(args[0])
		if len(args) == 2 {
			name = args[1]
		}
		for _, ext := range []string{".yaml", ".yml", ".json"} {
			if filepath.Ext(name) == ext {
				name = name[:len(name)-len(ext)]
			}
		}
		source, err := s.RouteSource(ctx, name)
		if err != nil {
			return err
		}
		text := diff.Diff("server/"+source.File, source.Text, args[0], document)
		if len(text) == 0 {
			return nil
		}
		if _, err := s.To.Write(text); err != nil {
			return err
		}
		return errors.New("they differ")
	})
}
