package davfs

// Some documents hold passwords when they are saved. What is saved beside them under a
// wrong or temporary name may hold one, too: its text is not kept when it is refused, and
// for minutes when a program stores it to rename it
// (docs/contract/drive.md#rejected-content).

// holdsSecrets reports whether what is saved at the address may hold a password, whatever
// its name is.
func (a address) holdsSecrets() bool {
	at := a.Segments
	switch {
	case len(at) < 2 || !same(at[0], "dav"):
		return false
	case same(at[1], "Account"):
		return true
	case same(at[1], "Admin"):
		return len(at) < 3 || !same(at[2], "Teams") && !same(at[2], "Holds")
	}
	return len(at) > 4 && a.inWorkflow() && same(at[2], "Routes") && same(at[4], hooksName)
}

// sendsSecrets reports whether what the request sends may hold a password.
func (x *request) sendsSecrets() bool { return x.fromSecrets || x.at.holdsSecrets() }
