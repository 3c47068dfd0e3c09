//go:build !linux

package confine

import "errors"

// Supported says why nothing can be confined on this system: what others than
// Linux offer does not bound the memory of a Go program.
func Supported() error {
	return errors.New("only Linux can limit the memory of a process")
}

// Self fails.
func Self(Limits) error { return Supported() }

func become(Limits, string, []string, []string) error { return Supported() }

// Became fails.
func Became(int, string) (bool, error) { return false, Supported() }

// KillFamily fails.
func KillFamily(Family) error { return Supported() }

func guard(Clan, int) error { return Supported() }
