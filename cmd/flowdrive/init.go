package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func initCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make a data folder, without running a server",
		Long: "Makes the data folder as the first start of \"flowdrive serve\" does: with its database, the\n" +
			"user admin, the team core and the example routes. It refuses a folder that has been made\n" +
			"already. " + adminPasswordHelp,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := os.Stat(filepath.Join(s.data, lockName)); err == nil {
				return fmt.Errorf("%s is a data folder already", s.data)
			} else if !errors.Is(err, os.ErrNotExist) {
				return err
			}
			s.offline = true
			a, err := openApp(cmd.Context(), &s, io.Discard)
			if err != nil {
				return err
			}
			return a.during(cmd.Context(), func() error {
				_, err := io.WriteString(cmd.OutOrStdout(), a.news())
				return err
			})
		},
	}
	s.registerData(cmd.Flags())
	return cmd
}
