package attach

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// locationName is the file in the folder of contents that says that they lie elsewhere.
const locationName = "location"

// Location says where the contents of a data folder lie, if they are no files in it.
type Location struct {
	At string `json:"at"` // an address; it has no secret in it
	ID string `json:"id"` // what they are known by there, as those of this data folder
}

// ReadLocation returns where the contents of the folder lie; the zero Location if they
// are its files.
func ReadLocation(folder string) (l Location, err error) {
	path := filepath.Join(folder, locationName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, failure("look where the contents lie", err)
	}
	if err := json.Unmarshal(text, &l); err != nil || l.At == "" || l.ID == "" {
		return l, fmt.Errorf("%s is damaged; it says where the contents lie, as {\"at\": \"s3://…\", \"id\": \"…\"} with the id in the object flowdrive-owner there", path)
	}
	return l, nil
}

// Write notes in the folder where its contents lie, durably. It makes the folder if it
// does not exist.
func (l Location) Write(folder string) error {
	const op = "note where the contents lie"
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return failure(op, err)
	}
	path := filepath.Join(folder, locationName)
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return failure(op, err)
	}
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return failure(op, err)
	}
	return failure(op, errors.Join(os.Rename(path+".new", path), syncFolder(folder), syncFolder(filepath.Dir(folder))))
}

// Forget removes the note of where the contents lie, if there is one.
func (Location) Forget(folder string) error {
	err := os.Remove(filepath.Join(folder, locationName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failure("forget where the contents lie", err)
}
