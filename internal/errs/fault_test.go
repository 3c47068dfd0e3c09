package errs_test

import (
	"encoding/json"
	"testing"

	"flowdrive/internal/errs"
)

// TestFaultForm: what is not known or does not apply is left out.
func TestFaultForm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault errs.Fault
		want  string
	}{
		{
			errs.Fault{Pointer: "/minutes", Detail: "must be from 0 to 60", Code: errs.CodeRange, Line: 3, Column: 14},
			`{"pointer":"/minutes","detail":"must be from 0 to 60","code":"range","line":3,"column":14}`,
		},
		{errs.Fault{Pointer: "/type", Detail: "is required", Code: errs.CodeRequired}, `{"pointer":"/type","detail":"is required","code":"required"}`},
		{errs.Fault{Pointer: "/startAt", Detail: "is not built"}, `{"pointer":"/startAt","detail":"is not built"}`},
	} {
		got, err := json.Marshal(tt.fault)
		if err != nil || string(got) != tt.want {
			t.Errorf("got %s, %v; want %s", got, err, tt.want)
		}
	}
}
