package main

import (
	"context"
	"errors"
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
	var strict bool
	check := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check route documents and print their faults and warnings with line numbers",
		Long: "Checks route documents, and prints their faults and warnings with line numbers. The\n" +
			"scenario in a file beside a route, such as bug.scenario.yaml beside bug.yaml, is\n" +
			"played with it. A FILE may be a scenario, too.\n\n" +
			"It asks no server: what the settings of one must have, such as a command, is named and not checked.\n" +
			"It exits with 1 if a document cannot be used or a scenario does not hold, and with --strict\n" +
			"also if there is a warning.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			found := map[outcome]int{}
			routes := 0
			others := routesIn(args)
			for _, path := range args {
				lines, came := checkDocument(cmd.Context(), path, others, args)
				for _, each := range came {
					found[each]++
				}
				if !strings.HasSuffix(routeName(path), scenarioEnd) {
					routes++
				}
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), strings.Join(lines, "\n")); err != nil {
					return err
				}
			}
			if !strict {
				found[routeWarned] = 0
			}
			return checkFailed(found, routes)
		},
	}
	check.Flags().BoolVar(&strict, "strict", false, "fail if there is a warning")
	cmd.AddCommand(check)
	cmd.AddCommand(routeNewCommand())
	cmd.AddCommand(remoteCommands().RouteCommands()...)
	return cmd
}

// scenarioEnd is how the names of the files of scenarios end before their extension.
const scenarioEnd = ".scenario"

// outcome is what came of a check of a document.
type outcome int

const (
	outcomeOK outcome = iota
	routeUnusable
	routeWarned
	scenarioUnusable
	scenarioBreaks
)

// checkFailed returns the error of a check that found this, how often, in so many routes.
func checkFailed(found map[outcome]int, routes int) error {
	var parts []string
	if n := found[routeUnusable]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d route documents cannot be used", n, routes))
	}
	if n := found[routeWarned]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d route documents have warnings", n, routes))
	}
	scenarios := func(of outcome, one, several string) {
		if n := found[of]; n == 1 {
			parts = append(parts, "1 scenario "+one)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d scenarios %s", n, several))
		}
	}
	scenarios(scenarioUnusable, "cannot be used", "cannot be used")
	scenarios(scenarioBreaks, "does not hold", "do not hold")
	if parts == nil {
		return nil
	}
	return errors.New(strings.Join(parts, "; "))
}

// checkDocument checks a route and plays the scenario beside it, or plays the scenario
// that the document is. One that is among all is played once.
func checkDocument(ctx context.Context, path string, others route.Others, all []string) (lines []string, came []outcome) {
	if name, is := strings.CutSuffix(routeName(path), scenarioEnd); is {
		of := beside(path, name)
		if of == "" {
			return []string{fmt.Sprintf("%s: there is no file of the route %q beside it", path, name)}, []outcome{scenarioUnusable}
		}
		lines, played := checkScenario(ctx, simulation{route: of, scenario: path})
		return lines, []outcome{played}
	}
	lines, of := checkRoute(path, others)
	if of == routeUnusable {
		return lines, []outcome{of}
	}
	scenario := beside(path, routeName(path)+scenarioEnd)
	if scenario == "" || slices.Contains(all, scenario) {
		return lines, []outcome{of}
	}
	more, played := checkScenario(ctx, simulation{route: path, scenario: scenario})
	return append(lines, more...), []outcome{of, played}
}

// checkScenario plays a scenario, and returns how it went, a line each.
func checkScenario(ctx context.Context, files simulation) (lines []string, came outcome) {
	report, err := files.play(ctx, io.Discard)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
		return lines, scenarioUnusable
	}
	if len(report.Failures) > 0 {
		return files.told(report), scenarioBreaks
	}
	return files.told(report), outcomeOK
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
func checkRoute(path string, others route.Others) (lines []string, of outcome) {
	data, err := os.ReadFile(path)
	if err != nil {
		return []string{err.Error()}, routeUnusable
	}
	node, err := parseFile(path, data)
	if err != nil {
		return output.FaultLines(path, err), routeUnusable
	}
	r, warnings, err := route.ParseAmong(routeName(path), node, others)
	if err == nil {
		warnings = append(warnings, mistaken(r)...)
	}
	for _, w := range warnings {
		lines = append(lines, output.FaultLine(path, "warning: ", w))
	}
	if err != nil {
		return append(lines, output.FaultLines(path, err)...), routeUnusable
	}
	if len(warnings) > 0 {
		of = routeWarned
	}
	lines = append(lines, path+": ok")
	if names := unchecked(r, others); len(names) > 0 {
		lines = append(lines, fmt.Sprintf("%s: not checked, as only the server knows it: %s; ask it with flowdrive route put --dry-run", path, strings.Join(names, ", ")))
	}
	return lines, of
}

// unchecked returns what a route names that the settings of its server must have, and the
// routes that are not there to be looked at.
func unchecked(r *route.Route, others route.Others) (names []string) {
	for _, reach := range r.Reaches() {
		kind := "the " + string(reach.Kind)
		switch {
		case reach.Kind.OfSecret():
			kind = "the secret"
		case reach.Kind == route.ReachURL:
			kind = "the host of"
		}
		if name := fmt.Sprintf("%s %q", kind, reach.Name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if others.Find == nil {
		return names
	}
	for _, other := range r.Others() {
		if name := fmt.Sprintf("the route %q, which is not among these files", other); !strings.EqualFold(other, r.Name) && others.Find(other) == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
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
