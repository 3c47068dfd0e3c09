package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Profile is what a client must know of a server: where it is, and as whom to speak to it.
type Profile struct {
	URL      string `json:"url"`
	User     string `json:"user"`
	Password string `json:"password"`
	// Secret is the name of the app password that the password is, or empty.
	Secret string `json:"secret,omitempty"`
	// Authority is a file with the authority of certificates of the server, or empty.
	Authority string `json:"authority,omitempty"`
}

// DefaultProfile is the name of the profile that is used if none is named.
const DefaultProfile = "default"

// ErrNoProfile says that there is no profile of that name.
var ErrNoProfile = errors.New("there is no such profile")

// Profiles are the profiles of a user of this machine, in a file that only that user can
// read.
type Profiles struct{ Path string }

// UserProfiles returns the profiles in the user's configuration folder, such as
// ~/.config/flowdrive/profiles.json.
func UserProfiles() (Profiles, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return Profiles{}, fmt.Errorf("find the user's configuration folder: %w", err)
	}
	return Profiles{Path: filepath.Join(folder, "flowdrive", "profiles.json")}, nil
}

// Load returns the profile of a name, or ErrNoProfile.
func (ps Profiles) Load(name string) (Profile, error) {
	all, err := ps.All()
	if err != nil {
		return Profile{}, err
	}
	p, ok := all[name]
	if !ok {
		return Profile{}, fmt.Errorf("profile %q: %w", name, ErrNoProfile)
	}
	return p, nil
}

// All returns all profiles by their names.
func (ps Profiles) All() (map[string]Profile, error) {
	data, err := os.ReadFile(ps.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Profile{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the profiles: %w", err)
	}
	all := map[string]Profile{}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s is damaged; log in again after you have deleted it: %w", ps.Path, err)
	}
	return all, nil
}

// Save stores a profile under a name, with mode 0600.
func (ps Profiles) Save(name string, p Profile) error {
	all, err := ps.All()
	if err != nil {
		return err
	}
	all[name] = p
	return ps.write(all)
}

// Delete deletes the profile of a name, or returns ErrNoProfile.
func (ps Profiles) Delete(name string) error {
	all, err := ps.All()
	if err != nil {
		return err
	}
	if _, ok := all[name]; !ok {
		return fmt.Errorf("profile %q: %w", name, ErrNoProfile)
	}
	delete(all, name)
	return ps.write(all)
}

// write replaces the file at once: os.CreateTemp makes it for the user alone.
func (ps Profiles) write(all map[string]Profile) (err error) {
	folder := filepath.Dir(ps.Path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make the folder of the profiles: %w", err)
	}
	f, err := os.CreateTemp(folder, "profiles-*.json")
	if err != nil {
		return fmt.Errorf("store the profiles: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	data, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		_, err = f.Write(append(data, '\n'))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("store the profiles: %w", err)
	}
	return os.Rename(f.Name(), ps.Path)
}
