package output

import (
	"context"
	"os"

	"golang.org/x/term"
)

// Await returns what read reads from a stream, unless the context ends before: then it
// returns the context's error, and a terminal is again as it was. The read goes on, as
// nothing can end it; nobody may read from the stream after that.
func Await(ctx context.Context, stream any, read func() (string, error)) (string, error) {
	var restore func() error
	if f, ok := stream.(*os.File); ok && IsTerminal(f) {
		was, err := term.GetState(int(f.Fd()))
		if err != nil {
			return "", err
		}
		restore = func() error { return term.Restore(int(f.Fd()), was) }
	}
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := read()
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-ctx.Done():
		if restore != nil {
			if err := restore(); err != nil {
				return "", err
			}
		}
		return "", ctx.Err()
	}
}
