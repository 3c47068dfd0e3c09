package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"flowdrive/client"
	"flowdrive/cmd/flowdrive/output"
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
	c := &cobra.Command{Use: "get ROUTE", Short: "Print the document of a route, as its author stored it", Args: cobra.ExactArgs(1)}
	c.ValidArgsFunction = e.completeWith((*session).routeNames)
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		source, _, err := s.RouteSource(ctx, args[0])
		if err != nil {
			return err
		}
		_, err = s.To.Write(source)
		return err
	})
}

func (e *Env) routePut() *cobra.Command {
	var o client.PutOptions
	c := &cobra.Command{
		Use: "put FILE...", Short: "Store routes, each under the name of its file",
		Long: "Stores routes, each under the name of its file: bug.yaml becomes the route bug, and\n" +
			"bug.scenario.yaml its scenario. A route and its scenario that are given together are stored\n" +
			"together, also if each fits only the other; with --dry-run each is checked with what is on\n" +
			"the server. Warnings are printed.",
		Example: "  flowdrive route put purchase.yaml purchase.scenario.yaml",
		Args:    cobra.MinimumNArgs(1),
	}
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "check it, and store nothing")
	c.Flags().BoolVar(&o.Migrate, "migrate", false, "move running cases to the new version")
	return e.command(c, func(ctx context.Context, s *session, args []string) error {
		together := map[string]string{} // scenarios, by the files of their routes
		if !o.DryRun {
			together = scenariosOf(args)
		}
		args = slices.DeleteFunc(slices.Clone(args), func(name string) bool { return slices.Contains(slices.Collect(maps.Values(together)), name) })
		return s.each(args, func(name string) error {
			document, err := s.document(name)
			if err != nil {
				return err
			}
			if beside := together[name]; beside != "" {
				story, err := s.document(beside)
				if err == nil {
					err = s.KeepScenario(ctx, filepath.Base(beside), story)
				}
				if err != nil {
					return named(beside, err)
				}
			}
			r, err := s.PutRoute(ctx, filepath.Base(name), document, o)
			if err != nil {
				return named(name, err)
			}
			for _, warning := range r.Warnings {
				if err := s.say("%s", output.WarningLine(name, warning)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// scenariosOf returns the files of scenarios whose route is among the files, too, by the file of
// the route.
func scenariosOf(files []string) map[string]string {
	routes := map[string]string{}
	stem := func(file string) string { return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) }
	for _, file := range files {
		routes[stem(file)] = file
	}
	out := map[string]string{}
	for _, file := range files {
		if route, is := strings.CutSuffix(stem(file), ".scenario"); is && routes[route] != "" {
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
		source, file, err := s.RouteSource(ctx, name)
		if err != nil {
			return err
		}
		text := diff.Diff("server/"+file, source, args[0], document)
		if len(text) == 0 {
			return nil
		}
		if _, err := s.To.Write(text); err != nil {
			return err
		}
		return errors.New("they differ")
	})
}
