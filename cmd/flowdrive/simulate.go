package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"flowdrive/cmd/flowdrive/output"
	"flowdrive/internal/simulate"
	"flowdrive/route"
	"flowdrive/server"
)

func simulateCommand() *cobra.Command {
	var children []string
	cmd := &cobra.Command{
		Use:   "simulate ROUTE SCENARIO",
		Short: "Play a scenario against a route on a clock that jumps, and print the log",
		Long: "Plays SCENARIO step by step against the route in the file ROUTE, on a temporary\n" +
			"server whose clock stands still until a step moves it, and prints the logs of\n" +
			"the cases. Routes whose cases ROUTE starts are read from the files of their\n" +
			"names in the same folder, unless --child names another file.\n\n" +
			"It exits with 1 if something is not as the scenario expects, after the log up\n" +
			"to there, and with 2 if ROUTE or SCENARIO cannot be used, after every fault with\n" +
			"its place.\n\n" + simulate.Language,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return simulateFile(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), simulation{args[0], args[1], children})
		},
	}
	cmd.Flags().StringSliceVar(&children, "child", nil, "file of a route that ROUTE names")
	return cmd
}

// simulation names the files of a scenario and of the routes that it is about.
type simulation struct {
	route    string
	scenario string
	children []string // routes that the route names, besides those in its folder
}

func simulateFile(ctx context.Context, stdout, stderr io.Writer, files simulation) error {
	report, err := files.play(ctx, stderr)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(stdout, report.Log); err != nil {
		return err
	}
	lines := files.told(report)
	if len(report.Failures) == 0 {
		_, err := fmt.Fprintln(stdout, lines[0])
		return err
	}
	return errors.New(strings.Join(lines, "\n"))
}

// play plays the scenario. What cannot be used is a usageError.
func (s simulation) play(ctx context.Context, complaints io.Writer) (*simulate.Report, error) {
	routes, err := readRoutes(s.route, s.children)
	if err != nil {
		return nil, usageError{err}
	}
	data, err := os.ReadFile(s.scenario)
	if err != nil {
		return nil, usageError{err}
	}
	scenario, err := simulate.Parse(data)
	if err != nil {
		return nil, usageError{errors.New(strings.Join(output.FaultLines(s.scenario, err), "\n"))}
	}
	return playScenario(ctx, complaints, scenario, routes)
}

// told returns how the scenario went: that it holds, or what does not, a line each.
func (s simulation) told(report *simulate.Report) []string {
	if len(report.Failures) == 0 {
		return []string{fmt.Sprintf("%s: ok (steps: %d, expectations: %d)", s.scenario, report.Steps, report.Checked)}
	}
	lines := make([]string, len(report.Failures))
	for i, f := range report.Failures {
		lines[i] = output.FaultLine(s.scenario, "", f)
	}
	return lines
}

// readRoutes reads the route, the given children and, from files in the route's
// folder, the other routes that these name.
func readRoutes(routePath string, children []string) ([]simulate.Route, error) {
	var routes []simulate.Route
	var faults []string
	add := func(path string) {
		lines, of := checkRoute(path, route.Others{})
		source, err := os.ReadFile(path)
		if err != nil {
			lines, of = []string{err.Error()}, routeUnusable
		}
		if of == routeUnusable {
			faults = append(faults, lines...)
			return
		}
		routes = append(routes, simulate.Route{File: path, Name: routeName(path), Source: source})
	}
	for _, path := range append([]string{routePath}, children...) {
		add(path)
	}
	for i := 0; i < len(routes); i++ {
		for _, name := range namedRoutes(&routes[i]) {
			known := slices.ContainsFunc(routes, func(r simulate.Route) bool { return strings.EqualFold(r.Name, name) })
			if known || name != filepath.Base(name) {
				continue
			}
			if path := beside(routePath, name); path != "" {
				add(path)
			} else {
				faults = append(faults, fmt.Sprintf("%s: names the route %q, but there is no file of it beside %s; give --child FILE", routes[i].File, name, routePath))
			}
		}
	}
	if len(faults) > 0 {
		return nil, errors.New(strings.Join(faults, "\n"))
	}
	return routes, nil
}

// beside returns the file of a route in the folder of another route, or "" if
// there is none.
func beside(routePath, name string) string {
	for _, extension := range []string{".yaml", ".yml", ".json"} {
		path := filepath.Join(filepath.Dir(routePath), name+extension)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// namedRoutes returns the routes that a definition names.
func namedRoutes(r *simulate.Route) []string {
	node, err := parseFile(r.File, r.Source)
	if err != nil {
		return nil // which checkRoute has told
	}
	return route.Named(node)
}

// playScenario plays a scenario on the whole server in this process, in a
// data folder of its own.
func playScenario(ctx context.Context, complaints io.Writer, s *simulate.Scenario, routes []simulate.Route) (report *simulate.Report, err error) {
	folder, err := os.MkdirTemp("", "flowdrive-simulate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	rehearsal := settings{data: folder, logLevel: "error"}
	return rehearsal.play(ctx, complaints, s, routes)
}

// play plays a scenario on the whole server in this process, in the data folder that
// the settings name.
func (s *settings) play(ctx context.Context, complaints io.Writer, story *simulate.Scenario, routes []simulate.Route) (report *simulate.Report, err error) {
	s.sandbox, s.runs = story.Clock.Format(time.RFC3339Nano), maps.Clone(story.Commands)
	s.bare, s.rehearsal = true, true
	a, err := openApp(ctx, s, complaints)
	if err != nil {
		return nil, err
	}
	err = a.during(ctx, func() error {
		report, err = simulate.Play(ctx, a.inProcess, story, routes)
		return err
	})
	return report, err
}

// inProcess answers a request as the server would its user, who needs no
// password here.
func (a *app) inProcess(ctx context.Context, r simulate.Request) (*simulate.Answer, error) {
	by := a.engine.Accounts.Principal(a.engine.Accounts.PartyID(r.User))
	req, err := http.NewRequestWithContext(server.WithPrincipal(ctx, by), r.Method, r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "curl/8") // a script client, which is taken at its word
	if r.Type != "" {
		req.Header.Set("Content-Type", r.Type)
	}
	if r.To != "" {
		req.Header.Set("Destination", r.To)
	}
	if r.Depth != "" {
		req.Header.Set("Depth", r.Depth)
	}
	w := &collected{status: http.StatusOK, header: http.Header{}}
	if r.Path == "/clock" {
		(&server.SandboxClock{Clock: a.sandbox, Engine: a.engine}).ServeHTTP(w, req)
	} else {
		a.drive.ServeHTTP(w, req)
	}
	return &simulate.Answer{Status: w.status, Location: w.header.Get("Location"), Body: w.body.Bytes()}, nil
}

// collected is an answer that stays in the process.
type collected struct {
	begun  bool
	status int
	header http.Header
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (c *collected) Header() http.Header { return c.header }

// WriteHeader implements http.ResponseWriter.
func (c *collected) WriteHeader(status int) {
	if !c.begun {
		c.begun, c.status = true, status
	}
}

// Write implements http.ResponseWriter.
func (c *collected) Write(b []byte) (int, error) {
	c.begun = true
	return c.body.Write(b)
}
