// Command flowdrive is a workflow and schedule server that is mounted as a
// network drive. This package wires the parts together and alone reads
// flags, the environment and configuration files.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"flowdrive/internal/confine"
	"flowdrive/internal/jqworker"
)

// workerCommand makes this program a worker of jqworker, storyCommand one that plays a
// scenario, and confinedCommand the program that a route runs; none is for people.
const (
	workerCommand   = "jq-worker"
	storyCommand    = "play-story"
	confinedCommand = "confined"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == workerCommand {
		os.Exit(jqworker.Serve(os.Args[2], os.Stdin, os.Stdout))
	}
	if len(os.Args) == 3 && os.Args[1] == storyCommand {
		os.Exit(serveStory(os.Args[2], os.Stdin, os.Stdout))
	}
	if len(os.Args) > 2 && os.Args[1] == confinedCommand {
		os.Exit(confine.Become(os.Args[2:], os.Environ(), os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one command line and returns its exit code: 0 for success, 1
// for failure, 2 for a command line that cannot be used, exitConfig for such settings,
// exitCut if something was cut off when the server was stopped.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return exitInterrupted // who has interrupted it knows
		}
		for line := range strings.Lines(err.Error()) {
			_, _ = fmt.Fprintln(stderr, "flowdrive:", strings.TrimRight(line, "\n")) // there is nowhere else to say it
		}
		return exitCode(err)
	}
	return 0
}
