package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"flowdrive/document"
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
				warnings, err := checkRoute(path)
				if err != nil {
					failed++
					fmt.Fprintf(cmd.OutOrStdout(), "%s: %v\n", path, err)
					continue
				}
				for _, w := range warnings {
					fmt.Fprintf(cmd.OutOrStdout(), "%s: warning: %s\n", path, w)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: ok\n", path)
			}
			if failed > 0 {
				return fmt.Errorf("%d of %d route documents cannot be used", failed, len(args))
			}
			return nil
		},
	})
	return cmd
}

func checkRoute(path string) (warnings []string, err error) {
	data, err := readFile(nil, path)
	if err != nil {
		return nil, err
	}
	extension := filepath.Ext(path)
	name := strings.TrimSuffix(filepath.Base(path), extension)
	parse := document.ParseYAML
	if extension == ".json" {
		parse = document.ParseJSON
	}
	node, err := parse(data)
	if err != nil {
		return nil, err
	}
	_, found, err := route.Parse(name, node)
	for _, f := range found {
		warnings = append(warnings, f.String())
	}
	return warnings, err
}
