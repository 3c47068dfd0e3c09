package errs_test

import (
	"testing"

	"flowdrive/internal/errs"
)

// A single fault that the detail ends with is not said twice.
func TestSingleFaultIsNotSaidTwice(t *testing.T) {
	t.Parallel()
	minute, hour := errs.Fault{Pointer: "/minute", Detail: "is required"}, errs.Fault{Pointer: "/hour", Detail: "is required"}
	tests := map[string]struct {
		detail string
		faults []errs.Fault
		want   string
	}{
		"said":  {"/minute: is required", []errs.Fault{minute}, "/minute: is required"},
		"other": {"It cannot be read.", []errs.Fault{minute}, "It cannot be read.\n  /minute: is required"},
		"two":   {"/minute: is required", []errs.Fault{minute, hour}, "/minute: is required\n  /minute: is required\n  /hour: is required"},
	}
	for name, test := range tests {
		if got := (&errs.Error{Kind: errs.Invalid, Detail: test.detail, Faults: test.faults}).Error(); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
