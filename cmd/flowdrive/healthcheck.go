package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
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
			"Exits with 0 if the server is ready, or stands by for another node that is active, else\n" +
			"with 1, also if none answers.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			says, err := askHealth(cmd.Context(), data)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), says)
			return err
		},
	}
	registerDataFolder(cmd.Flags(), &data)
	return cmd
}

// askHealth returns how the server that has the data folder open is, an error if it is neither
// ready nor stands by.
func askHealth(ctx context.Context, data string) (says string, err error) {
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	body, err := newClient(data).do(ctx, http.MethodGet, healthPath, nil, nil)
	if err == nil {
		return cmp.Or(strings.TrimSpace(string(body)), "The server is ready."), nil
	}
	if refused, answered := errors.AsType[*refusal](err); answered {
		return "", errors.New(refused.text) // without the problem, which has the exit code of requests
	}
	where := filepath.Join(data, socketName)
	if errors.Is(err, errNoServer) {
		return "", fmt.Errorf("%w on %s", err, where)
	}
	return "", fmt.Errorf("no server answers on %s: %w", where, err)
}
