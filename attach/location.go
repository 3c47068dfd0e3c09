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

// Home is the place where contents lie if they lie nowhere else, and where it is noted if
// they do.
type Home interface {
	Keeper

	// Location returns where the contents lie; the zero Location if they lie here.
	Location() (Location, error)

	// SetLocation notes, durably, that they lie there.
	SetLocation(l Location) error
}

var _ Home = (*Folder)(nil)

// Location implements Home.
func (f *Folder) Location() (l Location, err error) {
	path := filepath.Join(f.path, locationName)
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

// SetLocation implements Home. The folder must exist.
func (f *Folder) SetLocation(l Location) error {
	const op = "note where the contents lie"
	path := filepath.Join(f.path, locationName)
	if l == (Location{}) {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return failure(op, errors.Join(err, syncFolder(f.path)))
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return failure(op, err)
	}
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return failure(op, err)
	}
	return failure(op, errors.Join(os.Rename(path+".new", path), syncFolder(f.path)))
}
