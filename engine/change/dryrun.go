package change

import "flowdrive/internal/errs"

// A dry run (docs/contract/drive.md#dry-runs) is a change like any other up to
// the end of its unit, which undoes it: so every check is made, those that only
// the transaction can make as well, and what would result is known to the last
// byte. Nothing is stored, and nothing runs after a commit that does not come.

// errUndone is how the unit of a dry run ends.
var errUndone = errs.New(errs.Internal, "A dry run was taken for a failure.")

// Undone ends the unit of a dry run; of any other request it is nil.
func Undone(req Request) error {
	if req.DryRun {
		return errUndone
	}
	return nil
}
