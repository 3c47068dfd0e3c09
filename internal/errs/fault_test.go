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

// TestReadFault: what String writes is read again. A sentence about the whole document has
// no place.
func TestReadFault(t *testing.T) {
	t.Parallel()
	for _, f := range []errs.Fault{
		{Pointer: "/states/open", Detail: "is a dead end: no action leads out of it", Line: 3, Column: 14},
		{Pointer: "/access/start", Detail: "is missing"},
		{Pointer: "/", Detail: "holds\ntwo lines"},
		{Pointer: "/steps/0", Detail: ""},
	} {
		if got := errs.ReadFault(f.String()); got != f {
			t.Errorf("%q: got %+v", f.String(), got)
		}
	}
	for _, line := range []string{"", "The version of ann: it is replaced.", "3:14 nothing", "12345678901:1 /a: b"} {
		if got := errs.ReadFault(line); got != (errs.Fault{Detail: line}) {
			t.Errorf("%q: got %+v", line, got)
		}
	}
}
