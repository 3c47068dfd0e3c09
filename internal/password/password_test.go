package password

import (
	"strings"
	"testing"
)

func TestFault(t *testing.T) {
	t.Parallel()
	const short, known = "at least 12 characters", "tried first"
	for password, want := range map[string]string{
		"":                                     short,
		"a":                                    short,
		"password":                             short,
		"Tr0ub4dor&3":                          short,
		"ääääääööööö":                          short,
		"password1234":                         known,
		"Password123!":                         known,
		"P@ssw0rd2026":                         known,
		"passwordpassword":                     known,
		"administrator":                        known,
		"Administrator1!":                      known,
		"Welcome2026!!":                        known,
		"aaaaaaaaaaaa":                         known,
		"ababababababab":                       known,
		"123456789012":                         known,
		"098765432109":                         known,
		"202620262026":                         known,
		"qwertyuiop12":                         known,
		"qwertzuiop123":                        known,
		"1qaz2wsx3edc":                         known,
		"abcdefghijkl":                         known,
		"zyxwvutsrqpo":                         known,
		"letmein12345":                         known,
		"iloveyou2026":                         known,
		"flowdrive-admin-1":                    known,
		"sam.smith.1987":                       known,
		"SamSamSamSam":                         known,
		"!!!!!!!!!!!!":                         known,
		"            ":                         known,
		"correct horse battery":                "",
		"an-administrator-for-a-moment":        "",
		"Tr0ub4dor&3 and more":                 "",
		"kq7-vd2-hx9-mw4":                      "",
		"ein Pferd frisst keinen Gurkensalat":  "",
		"пароль очень длинный":                 "",
		"0123456789abcdefghij-zk!w":            "",
		"samsamsamsam":                         known,
		"tomtomtomtom":                         known,
		"catcatcatcat":                         known,
		"gnu-gnu-GNU-gnu!":                     known,
		"zebra zebra zebra":                    known,
		"пароль пароль":                        known,
		"correct horse battery staple":         known,
		"CorrectHorseBatteryStaple1":           known,
		"correct horse battery staple on Mars": "",
		"velvet-otter-7 gramophone":            "",
		"velvet otter velvet otter":            "",
		strings.Repeat("long ", 200):           known,
		strings.Repeat("a long text ", 80):     "",
	} {
		got := Fault(password, "sam", "Sam Smith")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", password, got, want)
		}
	}
	if got := Fault("SamSamSamSam", "ann", ""); got != "" && !strings.Contains(got, known) {
		t.Errorf("another user's name: %q", got)
	}
}

// TestGeneratedPasswords: what the server makes up is taken.
func TestGeneratedPasswords(t *testing.T) {
	t.Parallel()
	for _, made := range []string{"8fd4feb19ee84a478389", "00000000000000000a1b", "3414bdf6f3a043a58e5d"} {
		if got := Fault(made, "admin"); (got == "") == strings.HasPrefix(made, "0000") {
			t.Errorf("%s: %q", made, got)
		}
	}
}
