// Command licenses prints the notices that must accompany the program: the
// licenses of all modules that are linked into it; with -sbom the bill of materials in
// the form of CycloneDX instead. It fails if one has no
// license, or one that is not permitted here.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// program is the package whose dependencies are looked at.
const program = "./cmd/flowdrive"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	form := write
	if len(os.Args) > 1 && os.Args[1] == "-sbom" {
		form = writeBOM
	}
	err := run(ctx, ".", os.Stdout, form)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

// run writes what form says of the modules of the program in the repository at root.
func run(ctx context.Context, root string, out io.Writer, form func(io.Writer, []notice) error) error {
	packages, err := linked(ctx, root, program)
	if err != nil {
		return err
	}
	all, err := collect(packages)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	return errors.Join(form(w, all), w.Flush())
}
