// Command licenses prints the notices that must accompany the program: the
// licenses of all modules that are linked into it. It fails if one has no
// license, or one that is not permitted here.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// program is the package whose dependencies are looked at.
const program = "./cmd/flowdrive"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, ".", os.Stdout)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

// run writes the notices of the program in the repository at root.
func run(ctx context.Context, root string, out io.Writer) error {
	packages, err := linked(ctx, root, program)
	if err != nil {
		return err
	}
	all, err := collect(packages)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	write(w, all)
	return w.Flush()
}
