package remote

import (
	"fmt"
	"time"

	"flowdrive/cmd/flowdrive/output"
	"flowdrive/internal/plaintext"
)

// progress returns what shows how far a transfer is, in one line that changes. It begins
// after a second, on a terminal only.
func (s *session) progress() func(done, all int64) {
	if !output.IsTerminal(s.err) || s.Terminal && s.cmd.Name() == "cat" {
		return nil
	}
	begin := s.env.Now()
	last, shown := begin, false
	return func(done, all int64) {
		now := s.env.Now()
		ended := done == all && shown
		if !ended && (now.Sub(begin) < time.Second || now.Sub(last) < 200*time.Millisecond) {
			return
		}
		last, shown = now, !ended
		text := ""
		if !ended {
			text = transferText(done, all, now.Sub(begin))
		}
		_, _ = fmt.Fprint(s.err, "\r\x1b[K"+text) // it is for people who look
	}
}

// transferText says how much has gone, how fast, and how long the rest takes if it goes on
// so.
func transferText(done, all int64, took time.Duration) string {
	rate := float64(done) / max(took.Seconds(), 0.001)
	if all <= 0 {
		return fmt.Sprintf("%s, %s/s", plaintext.Size(done), plaintext.Size(int64(rate)))
	}
	text := fmt.Sprintf("%d %%, %s of %s, %s/s", done*100/all, plaintext.Size(done), plaintext.Size(all), plaintext.Size(int64(rate)))
	if rate < 1 {
		return text
	}
	left := time.Duration(float64(all-done) / rate * float64(time.Second))
	return text + ", " + left.Round(time.Second).String() + " left"
}
