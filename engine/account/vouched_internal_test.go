package account

import "testing"

// TestSameGroup: a group of the settings is the one that a directory names, however its DN is
// written.
func TestSameGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said, group string
		want        bool
	}{
		{"accounting", "Accounting", true},
		{"accounting", "accounts", false},
		{"cn=Accounting,ou=Groups,dc=x", "CN=accounting, OU=groups, DC=x", true},
		{"cn=Accounting,ou=Groups,dc=x", "cn=accounting,ou=groups,dc=y", false},
		{"cn=a\\, b,dc=x", "cn=a\\2c b, dc=x", true},
		{"cn=a", "not = a DN,", false},
	} {
		if got := SameGroup(c.said, c.group); got != c.want {
			t.Errorf("%q and %q: %v", c.said, c.group, got)
		}
	}
}
