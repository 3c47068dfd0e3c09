package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Which versions of routes a user has last got or put, so that an older copy does not take the
// place of what somebody else has stored since. They are in a file beside the profiles.

func (s *session) lastSeenFile() (string, error) {
	profiles, err := s.env.Profiles()
	return filepath.Join(filepath.Dir(profiles.Path), "routes.json"), err
}

// lastSeen reads the ETags, by server, user and route.
func lastSeen(file string) (map[string]string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which routes were got: %w", err)
	}
	seen := map[string]string{}
	if err := json.Unmarshal(data, &seen); err != nil {
		return nil, fmt.Errorf("%s is damaged; delete it, and get the routes again: %w", file, err)
	}
	return seen, nil
}

func (s *session) seenKey(route string) string {
	return s.URL() + " " + s.User() + " " + strings.ToLower(route)
}

// remembered returns the ETag of a route when this user last got or put it here, or nothing.
func (s *session) remembered(route string) (string, error) {
	file, err := s.lastSeenFile()
	if err != nil {
		return "", err
	}
	seen, err := lastSeen(file)
	return seen[s.seenKey(route)], err
}

// remember keeps the ETag of a route that was got or put.
func (s *session) remember(route, etag string) error {
	file, err := s.lastSeenFile()
	if err != nil {
		return err
	}
	seen, err := lastSeen(file)
	if err != nil {
		return err
	}
	if seen[s.seenKey(route)] == etag {
		return nil
	}
	seen[s.seenKey(route)] = etag
	data, err := json.MarshalIndent(seen, "", "  ")
	if err == nil {
		err = replaceFile(file, append(data, '\n'))
	}
	if err != nil {
		// What was asked for is done; only the next route put lacks a guard.
		return s.say("flowdrive: which version of %s this was could not be kept, so that the next route put does not see whether somebody else has changed it: %v", route, err)
	}
	return nil
}

// replaceFile writes a file that only its user can read, at once.
func replaceFile(name string, data []byte) (err error) {
	folder := filepath.Dir(name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
