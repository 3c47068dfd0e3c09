package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"flowdrive/internal/document"
	"flowdrive/route"
)

func routeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "route", Short: "Look at workflow definitions"}
	cmd.AddCommand(&cobra.Command{
		Use:   "check FILE...",
		Short: "Check route documents and print their faults and warnings with line numbers",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			failed := 0
			for _, path := range args {
				lines, ok := checkRoute(path)
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
	return cmd
}

// checkRoute returns what there is to say about a route document, a line
// each, and whether it can be used.
func checkRoute(path string) (lines []string, ok bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return []string{err.Error()}, false
	}
	node, err := parseFile(path, data)
	if err != nil {
		return faultLines(path, err), false
	}
	_, warnings, err := route.Parse(routeName(path), node)
	for _, w := range warnings {
		lines = append(lines, faultLine(path, "warning: ", w))
	}
	if err != nil {
		return append(lines, faultLines(path, err)...), false
	}
	return append(lines, path+": ok"), true
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
