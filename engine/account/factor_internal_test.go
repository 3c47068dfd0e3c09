package account

import (
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// TestCodeOfAnotherTime: of a code that is refused it is found out by how much the clock of the
// device is off, within twenty minutes. Other codes are off by nothing.
func TestCodeOfAnotherTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	const secret = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	for off, want := range map[time.Duration]time.Duration{
		0: 0, 30 * time.Second: 0, // those are taken, or were used
		5 * time.Minute: 5 * time.Minute, -5 * time.Minute: -5 * time.Minute, 20 * time.Minute: 20 * time.Minute,
		time.Hour: 0,
	} {
		f := &factor{Secret: secret}
		code, err := totp.GenerateCode(secret, now.Add(off))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.stray(code[:3]+" "+code[3:], now); got != want {
			t.Errorf("the code of a clock that is off by %s: %s, want %s", off, got, want)
		}
		if want != 0 && f.take(code, now) {
			t.Errorf("the code of a clock that is off by %s was taken", off)
		}
	}
}
