package davfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestCutReadsAreNotLogged: that a client has cut its request short is not a fault of the
// server, which has nothing to say about it. What fails in a request that goes on is told.
func TestCutReadsAreNotLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	d := &drive{Config: Config{Log: zerolog.New(&log)}}
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	d.couldNotRead(cut, fmt.Errorf("read: %w", context.Canceled), "drive: cut")
	d.couldNotRead(cut, errors.New("disk I/O error"), "drive: damaged")
	d.couldNotRead(t.Context(), fmt.Errorf("read: %w", context.Canceled), "drive: stopped")
	if got := log.String(); strings.Contains(got, "drive: cut") || !strings.Contains(got, "drive: damaged") || !strings.Contains(got, "drive: stopped") {
		t.Error(got)
	}
}
