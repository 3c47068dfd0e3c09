package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

const (
	healthPath = "/health" // of the control socket
	healthWait = 10 * time.Second
)

func healthcheckCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask the server on this machine whether it is ready",
		Long: "Asks the server that has the data folder open, through the socket in it, so that no\n" +
			"password, port or certificate is needed. It is for containers and supervisors.\n" +
			"Exits with 0 if the server is ready, else with 1, also if none answers.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := askHealth(cmd.Context(), data); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "The server is ready.")
			return err
		},
	}
	registerDataFolder(cmd.Flags(), &data)
	return cmd
}

// askHealth returns nil if the server that has the data folder open is ready.
func askHealth(ctx context.Context, data string) error {
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	err := newClient(data).get(ctx, healthPath, nil)
	if err == nil {
		return nil
	}
	if refused, answered := errors.AsType[*refusal](err); answered {
		return errors.New(refused.text) // without the problem, which has the exit code of requests
	}
	return fmt.Errorf("no server answers on %s: %w", filepath.Join(data, socketName), err)
}
