// Command bench measures the figures that Flowdrive has to reach
// (docs/contract/storage.md#3-figures) and prints each beside its limit. Both
// are measured in the same run on the same machine: one side, then the other,
// and again, and the median of all. A limit is the least that such work can
// cost: the same rows written by a bare writer, or the bare library. "make
// bench" runs it.
//
// It takes half an hour. It needs 10 GB below -dir for a while, and a
// machine that does nothing else. P12 compares what work costs with a thousand,
// a hundred thousand and a million cases stored. With -cases 10000000 it goes
// on to ten million: that takes half an hour more, 26 GB below -dir, and memory
// in which the system can keep them. With less memory it measures the disk.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// command reads the flags, measures, and prints the table.
func command(ctx context.Context, args []string) (err error) {
	cfg := Config{
		Progress: func(what string) { fmt.Fprintln(os.Stderr, what) },
	}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.BoolVar(&cfg.Short, "short", false, "do one round of everything with little data, to see that it runs")
	only := flags.String("only", "", "figures to measure, as in P1,P4 (default: all)")
	flags.IntVar(&cfg.Cases, "cases", 0, "most cases that P12 and P20 store (default 1000000)")
	flags.StringVar(&cfg.Dir, "dir", "", "folder for the data, on the disk to be measured (default: the system's for temporary files)")
	flags.IntVar(&cfg.Stock, "stock", 0, "entries, timers and cases that P18 and P19 store (default 1000000)")
	flags.StringVar(&cfg.Program, "program", "", "file of the program that P13, P14 and P16 to P20 start; without it they are left out")
	flags.StringVar(&cfg.River, "river", "", "file of the program made of internal/bench/river, for P15")
	jsonFile := flags.String("json", "", "file for the figures of all rounds as JSON")
	profile := flags.String("cpuprofile", "", "file for a CPU profile of the whole run, limits included")
	old := flags.String("compare", "", "file of an earlier -json, to be compared with that of the argument; nothing is measured")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *old != "" {
		return compare(os.Stdout, *old, flags.Arg(0))
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *only != "" {
		cfg.Only = strings.Split(*only, ",")
	}
	stop, err := profileTo(*profile)
	if err != nil {
		return err
	}
	report, err := Run(ctx, cfg)
	err = errors.Join(err, stop())
	if report == nil {
		return err
	}
	err = errors.Join(err, report.WriteText(os.Stdout))
	if *jsonFile == "" {
		return err
	}
	file, createErr := os.Create(*jsonFile)
	if createErr != nil {
		return errors.Join(err, createErr)
	}
	return errors.Join(err, report.WriteJSON(file), file.Close())
}

// profileTo begins a CPU profile, and returns what ends it. "" means none.
func profileTo(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}
