package relational_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"flowdrive/store"
	"flowdrive/store/storetest"
)

// TestSettingsUnder: settings are found by what their keys begin with, which is no
// pattern; those that were taken away are not.
func TestSettingsUnder(t *testing.T) {
	t.Parallel()
	db := storetest.Run(t)
	mustUpdate(t, db, func(tx store.Tx) error {
		for key, value := range map[string]string{"way a": "1", "way b%": "2", "way gone": "", "w_y c": "3", "ways": "4", "way": "5"} {
			if err := tx.Write().Settings().Put(key, value); err != nil {
				return err
			}
		}
		for prefix, want := range map[string]map[string]string{
			"way ": {"a": "1", "b%": "2"}, "w_y": {" c": "3"}, "%": {}, "way b%": {"": "2"},
		} {
			got, err := tx.Settings().Under(prefix)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("under %q (-want +got):\n%s", prefix, diff)
			}
		}
		return nil
	})
}
