package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/pprof"

	"github.com/spf13/cobra"

	"flowdrive/internal/bench"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	config  bench.Config
	json    string
	profile string
}

func benchCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure this machine and print each figure beside its limit",
		Long: "Measures the figures that Flowdrive is to reach, each beside its limit measured\n" +
			"in the same run: the same statements by a bare writer, or the bare library. It\n" +
			"takes a quarter of an hour, needs 10 GB below --dir for a while and a machine\n" +
			"that does nothing else.\n\n" +
			"P12 compares what work costs with a thousand, a hundred thousand and a million\n" +
			"cases stored. With --cases 10000000 it goes on to ten million: that takes ten\n" +
			"minutes more, 26 GB below --dir, and memory in which the system can keep them.\n" +
			"With less of that it is the disk that is measured.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVar(&f.config.Short, "short", false, "one round of everything with little data, to see that it runs")
	cmd.Flags().StringSliceVar(&f.config.Only, "only", nil, "figures to measure, as in P1,P4 (default: all)")
	cmd.Flags().IntVar(&f.config.Cases, "cases", 0, "most cases that P12 stores (default: 1000000)")
	cmd.Flags().StringVar(&f.config.Dir, "dir", "", "folder for the data, on the disk to be measured (default: the system's for temporary files)")
	cmd.Flags().StringVar(&f.json, "json", "", "file for the figures of all rounds as JSON")
	cmd.Flags().StringVar(&f.profile, "cpuprofile", "", "file for a CPU profile; go tool pprof -tagfocus side=flowdrive leaves out the limits")
	return cmd
}

func (f *benchFlags) run(ctx context.Context, out, progress io.Writer) (err error) {
	if f.config.Program, err = os.Executable(); err != nil {
		return err
	}
	f.config.Serve = serveForBench
	f.config.Progress = func(what string) { _, _ = fmt.Fprintln(progress, what) }
	if f.profile != "" {
		file, err := os.Create(f.profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			return errors.Join(err, file.Close())
		}
		defer func() {
			pprof.StopCPUProfile()
			err = errors.Join(err, file.Close())
		}()
	}
	report, err := bench.Run(ctx, f.config)
	if report == nil {
		return usageError{err}
	}
	err = errors.Join(err, report.WriteText(out))
	if f.json == "" {
		return err
	}
	file, createErr := os.Create(f.json)
	if createErr != nil {
		return errors.Join(err, createErr)
	}
	return errors.Join(err, report.WriteJSON(file), file.Close())
}

// serveForBench starts the server as serve does, but for the limits on what a
// user may have.
func serveForBench(data string) (addr string, stop func() error, err error) {
	const unlimited = 1 << 40
	s := settings{data: data, logLevel: "info", maxEntries: unlimited, maxRoutes: unlimited, maxOpenCases: unlimited}
	ctx, cancel := context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	a, err := openApp(ctx, &s, io.Discard)
	if err != nil {
		return "", nil, closing(listener, err)
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- a.serve(ctx, func() error { close(ready); return nil }, listener)
	}()
	select {
	case <-ready:
		return listener.Addr().String(), func() error { cancel(); return <-ended }, nil
	case err := <-ended:
		return "", nil, errors.Join(err, errors.New("the server ended before it was ready"))
	}
}
