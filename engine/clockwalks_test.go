package engine_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestClockWalks sets the machine's clock back and forth, by up to two hours, and starts
// the engine anew in between: no instant comes twice, and none is left out.
func TestClockWalks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 0))
		w := newWorld(t)
		sam := w.as("sam")
		out := sam.mustPutEntry("", `{"type": "interval", "minutes": 5, "route": "auto", "misfire": "all"}`)
		begin := w.clock.Now()
		newest := begin
		for range 12 {
			now := begin.Add(time.Duration(random.IntN(4*3600)-3600) * time.Second)
			if now.After(newest) {
				newest = now
			}
			w.clock.Set(now)
			if random.IntN(3) == 0 {
				w.reopen()
				w.clock.Set(now)
			}
			w.advance(0)
		}
		var got, want []string
		for _, o := range sam.occurrences(out.Name) {
			_, at, _ := strings.Cut(o, " ")
			got = append(got, at)
		}
		slices.Sort(got)
		for at := begin.Add(5 * time.Minute); !at.After(newest); at = at.Add(5 * time.Minute) {
			want = append(want, at.Format(time.RFC3339))
		}
		same(t, "instants", got, want)
		same(t, "cases", len(w.cases()), len(want))
	}
}
