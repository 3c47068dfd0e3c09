package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"flowdrive/docs"
	"flowdrive/internal/document"
	"flowdrive/route"
)

// takable is an example that route new writes.
type takable struct {
	name  string
	title string
	files map[string][]byte // by name
}

// takables returns the examples of the manual, then the routes of every new server.
func takables() ([]takable, error) {
	var all []takable
	files := docs.Files()
	folders, err := fs.ReadDir(files, "examples")
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		t, err := takableIn(files, path.Join("examples", folder.Name()), folder.Name(), func(string) bool { return true })
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	for _, e := range route.Examples() {
		t, err := takableIn(route.ExampleFiles(), ".", e.Name, func(file string) bool {
			return file == e.Name+".yaml" || file == e.Name+scenarioEnd+".yaml" || slices.Contains(children(e), file)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// children returns the files of the routes that a route starts.
func children(e route.Example) (files []string) {
	node, err := document.ParseYAML(e.Source)
	if err != nil {
		return nil // none of those that ship
	}
	r, _, err := route.Parse(e.Name, node)
	if err != nil {
		return nil
	}
	for _, name := range r.Others() {
		files = append(files, name+".yaml")
	}
	return files
}

// titleLine matches the title of a route.
var titleLine = regexp.MustCompile(`(?m)^(?:description|title): (.*)$`)

// takableIn reads an example from a folder: its YAML files that are of it.
func takableIn(files fs.FS, folder, name string, of func(file string) bool) (takable, error) {
	t := takable{name: name, files: map[string][]byte{}}
	names, err := fs.Glob(files, path.Join(folder, "*.yaml"))
	if err != nil {
		return t, err
	}
	for _, file := range names {
		if !of(path.Base(file)) {
			continue
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return t, err
		}
		t.files[path.Base(file)] = text
		if path.Base(file) == name+".yaml" {
			for _, found := range titleLine.FindAllSubmatch(text, -1) {
				t.title = string(found[1]) // the description, which comes after the title
			}
		}
	}
	return t, nil
}

func routeNewCommand() *cobra.Command {
	var from string
	c := &cobra.Command{
		Use:   "new [NAME] --from EXAMPLE",
		Short: "Write a route, its scenario and what belongs to it, from an example",
		Long: "Writes the files of an example into the current folder: a route with comments, the scenario\n" +
			"that shows how it goes, and what else belongs to it. With a NAME the route and its files are\n" +
			"called so. Nothing is overwritten. Without --from it lists the examples.",
		Example: "  flowdrive route new\n  flowdrive route new --from purchase\n  flowdrive route new orders --from purchase",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := takables()
			if err != nil {
				return err
			}
			if from == "" {
				if len(args) > 0 && slices.ContainsFunc(all, func(t takable) bool { return t.name == args[0] }) {
					return usageError{fmt.Errorf("give the example, too: did you mean --from %s?", args[0])}
				}
				if len(args) > 0 {
					return usageError{errors.New("give the example, too: --from NAME; \"flowdrive route new\" lists them")}
				}
				return listTakables(cmd, all)
			}
			at := slices.IndexFunc(all, func(t takable) bool { return t.name == from })
			if at < 0 {
				var names []string
				for _, t := range all {
					names = append(names, t.name)
				}
				return usageError{fmt.Errorf("--from: there is no example %q%s; \"flowdrive route new\" lists them", from, document.Hint(from, names))}
			}
			name := from
			if len(args) > 0 {
				name = args[0]
			}
			return writeTakable(cmd, all[at], name)
		},
	}
	c.Flags().StringVar(&from, "from", "", "the example")
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		all, err := takables()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, t := range all {
			names = append(names, t.name+"\t"+t.title)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	if err := c.RegisterFlagCompletionFunc("from", complete); err != nil {
		panic("route new has no flag from: " + err.Error())
	}
	return c
}

func listTakables(cmd *cobra.Command, all []takable) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 3, ' ', 0)
	for _, t := range all {
		if _, err := fmt.Fprintf(w, "%s\t%s\n", t.name, t.title); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), "\nflowdrive route new --from NAME writes one into the current folder.")
	return err
}

// routeNames matches what routes can be called (docs/contract/routes.md#1-document).
var routeNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

// routeField matches the field of an entry that names its route, also in a comment.
var routeField = regexp.MustCompile(`(\broute"?: "?)([A-Za-z0-9_-]+)`)

// schemaLine matches the line by which editors find the schema of a file.
var schemaLine = regexp.MustCompile(`(?m)^# yaml-language-server: \$schema=https?://[^/\n]+(/.*)\n`)

// withSchemaOf has the schema of a file found on the server that one is logged in to. Without
// one there is no such line: the server of the manual is not there, or is another one.
func withSchemaOf(server string, text []byte) []byte {
	if server == "" {
		return schemaLine.ReplaceAll(text, nil)
	}
	return schemaLine.ReplaceAllFunc(text, func(line []byte) []byte {
		return []byte("# yaml-language-server: $schema=" + server + string(schemaLine.FindSubmatch(line)[1]) + "\n")
	})
}

// writeTakable writes the files of an example, those of its route under the name.
func writeTakable(cmd *cobra.Command, t takable, name string) error {
	if !routeNames.MatchString(name) {
		return usageError{fmt.Errorf("%q is not a name that route new gives: use letters, digits, - and _, and begin with a letter or digit. To call a route otherwise, rename its files before you store them", name)}
	}
	server, err := remoteCommands().Server(cmd)
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for _, file := range slices.Sorted(maps.Keys(t.files)) {
		to, text := file, withSchemaOf(server, t.files[file])
		if rest, ok := strings.CutPrefix(file, t.name+"."); ok {
			to = name + "." + rest
		}
		if name != t.name {
			text = routeField.ReplaceAllFunc(text, func(field []byte) []byte {
				if of := routeField.FindSubmatch(field); string(of[2]) == t.name {
					return append(slices.Clone(of[1]), name...)
				}
				return field
			})
		}
		if _, err := os.Lstat(to); err == nil {
			// Examples have children in common.
			if there, err := os.ReadFile(to); err == nil && bytes.Equal(there, text) && !strings.HasPrefix(file, t.name+".") {
				continue
			}
			return fmt.Errorf("%s is there already; nothing was written", to)
		}
		files[to] = text
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a file to be shared
		if err != nil {
			return err
		}
		_, err = f.Write(files[file])
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), file); err != nil {
			return err
		}
	}
	first := ""
	if bytes.Contains(files[name+".yaml"], []byte("team:")) {
		where := name + ".yaml"
		if scenario := name + ".scenario.yaml"; bytes.Contains(files[scenario], []byte("teams:")) {
			where += " and " + scenario // in which the route is played
		}
		first = fmt.Sprintf("Put the names of your teams into %s. Then:\n", where)
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s  flowdrive route check %s.yaml\n  flowdrive route put %s.yaml\n", first, name, name)
	return err
}
