package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"flowdrive/cmd/flowdrive/output"
	"flowdrive/internal/document"
	"flowdrive/internal/errs"
	"flowdrive/route"
)

func routeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "route", Short: "Look at workflow definitions, and change those of a server"}
	cmd.AddCommand(&cobra.Command{
		Use:   "check FILE...",
		Short: "Check route documents and print their faults and warnings with line numbers",
		Long: "Checks route documents, and prints their faults and warnings with line numbers. The\n" +
			"scenario in a file beside a route, such as bug.scenario.yaml beside bug.yaml, is\n" +
			"played with it. A FILE may be a scenario, too.\n\n" +
			"It exits with 1 if a document cannot be used or a scenario does not hold.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			failed := 0
			others := routesIn(args)
			for _, path := range args {
				lines, ok := checkDocument(cmd.Context(), path, others, args)
				if !ok {
					failed++
				}
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), strings.Join(lines, "\n")); err != nil {
					return err
				}
			}
			if failed > 0 {
				return fmt.Errorf("%d of %d route documents cannot be used", failed, len(args))
			}
			return nil
		},
	})
	cmd.AddCommand(routeNewCommand())
	cmd.AddCommand(remoteCommands().RouteCommands()...)
	return cmd
}

// scenarioEnd is how the names of the files of scenarios end before their extension.
const scenarioEnd = ".scenario"

// checkDocument checks a route and plays the scenario beside it, or plays the scenario
// that the document is. One that is among all is played once.
func checkDocument(ctx context.Context, path string, others route.Others, all []string) (lines []string, ok bool) {
	if name, is := strings.CutSuffix(routeName(path), scenarioEnd); is {
		of := beside(path, name)
		if of == "" {
			return []string{fmt.Sprintf("%s: there is no file of the route %q beside it", path, name)}, false
		}
		return checkScenario(ctx, simulation{route: of, scenario: path})
	}
	lines, ok = checkRoute(path, others)
	scenario := beside(path, routeName(path)+scenarioEnd)
	if !ok || scenario == "" || slices.Contains(all, scenario) {
		return lines, ok
	}
	more, ok := checkScenario(ctx, simulation{route: path, scenario: scenario})
	return append(lines, more...), ok
}

// checkScenario plays a scenario, and returns how it went, a line each.
func checkScenario(ctx context.Context, files simulation) (lines []string, ok bool) {
	report, err := files.play(ctx, io.Discard)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
		return lines, false
	}
	return files.told(report), len(report.Failures) == 0
}

// routesIn returns the routes of those documents that have no faults, and those that
// they name and that lie beside them: each is checked as one that is stored beside
// the others.
func routesIn(paths []string) route.Others {
	var all []*route.Route
	for paths = slices.Clone(paths); len(paths) > 0; paths = paths[1:] {
		r := routeIn(paths[0])
		if r == nil || route.Among(all).Find(r.Name) != nil {
			continue
		}
		all = append(all, r)
		for _, name := range r.Others() {
			if path := beside(paths[0], name); path != "" && name == filepath.Base(name) {
				paths = append(paths, path)
			}
		}
	}
	return route.Among(all)
}

// routeIn returns the route of a document, nil if it has faults. They are told when
// it is checked.
func routeIn(path string) *route.Route {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	node, err := parseFile(path, data)
	if err != nil {
		return nil
	}
	r, _, err := route.Parse(routeName(path), node)
	if err != nil {
		return nil
	}
	return r
}

// checkRoute returns what there is to say about a route document, a line
// each, and whether it can be used.
func checkRoute(path string, others route.Others) (lines []string, ok bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return []string{err.Error()}, false
	}
	node, err := parseFile(path, data)
	if err != nil {
		return output.FaultLines(path, err), false
	}
	r, warnings, err := route.ParseAmong(routeName(path), node, others)
	if err == nil {
		warnings = append(warnings, mistaken(r)...)
	}
	for _, w := range warnings {
		lines = append(lines, output.FaultLine(path, "warning: ", w))
	}
	if err != nil {
		return append(lines, output.FaultLines(path, err)...), false
	}
	return append(lines, path+": ok"), true
}

// mistaken warns of users and teams whose names are those of roles or XATTRs. Which
// there are, the server knows.
func mistaken(r *route.Route) (warnings []errs.Fault) {
	for _, p := range r.Parties() {
		if p.Instead != "" {
			warnings = append(warnings, errs.Fault{Pointer: p.Pointer, Line: p.Line, Column: p.Column, Detail: fmt.Sprintf("names a user or team %q; did you mean %q?", p.Name, p.Instead)})
		}
	}
	return warnings
}

// routeName returns the name of the route in a file.
func routeName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// parseFile parses a document as its file's name says: JSON, else YAML.
func parseFile(path string, data []byte) (*document.Node, error) {
	if filepath.Ext(path) == ".json" {
		return document.ParseJSON(data)
	}
	return document.ParseYAML(data)
}
