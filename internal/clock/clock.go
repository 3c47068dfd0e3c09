// Package clock says what time it is. Only it and cmd call time.Now; all other
// packages take the time as an argument.
package clock

import "time"

// Precision is what instants are cut to wherever they are stored.
const Precision = time.Millisecond

// Trim returns t in UTC, cut to Precision.
func Trim(t time.Time) time.Time { return t.UTC().Truncate(Precision) }

// Real is the machine's clock.
type Real struct{}

// Now returns the present instant in UTC, cut to Precision.
func (Real) Now() time.Time { return Trim(time.Now()) }
