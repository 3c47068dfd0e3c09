package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// releaseStartPages unmaps the pages of the program's file that starting has touched.
// Most of them are not used again; the kernel maps the others from its cache when they
// are. Without it a server that has nothing to do is shown with 20 MiB more than it uses.
func releaseStartPages() error {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	unchanged, err := unchangedMappings(bufio.NewScanner(file), self)
	if err != nil {
		return err
	}
	for _, m := range unchanged {
		// Newer kernels map a file by 2 MiB, most of which would come back with the
		// first page of it that is used. A kernel without huge pages does not know the
		// first advice, and does not need it.
		if err := m.advise(syscall.MADV_NOHUGEPAGE); err != nil && !errors.Is(err, syscall.EINVAL) {
			return err
		}
		if err := m.advise(syscall.MADV_DONTNEED); err != nil {
			return err
		}
	}
	return nil
}

// mapping is a range of addresses.
type mapping struct{ from, to uintptr }

func (m mapping) advise(advice uintptr) error {
	if _, _, fault := syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, advice); fault != 0 {
		return os.NewSyscallError("madvise", fault)
	}
	return nil
}

// unchangedMappings returns, of the mappings that smaps lists (proc_pid_smaps(5)), those
// of the file that cannot be written and never were. What the dynamic loader has
// relocated cannot be written any more either, and must stay.
func unchangedMappings(smaps *bufio.Scanner, file string) ([]mapping, error) {
	var found []mapping
	var m mapping
	wanted := false
	for smaps.Scan() {
		line := smaps.Text()
		key, value, _ := strings.Cut(line, " ")
		switch {
		case !strings.HasSuffix(key, ":"):
			var rights string
			if _, err := fmt.Sscanf(line, "%x-%x %s", &m.from, &m.to, &rights); err != nil {
				return nil, fmt.Errorf("/proc/self/smaps, %q: %w", line, err)
			}
			wanted = strings.HasSuffix(line, " "+file) && !strings.Contains(rights, "w")
		case wanted && key == "Anonymous:" && strings.TrimSpace(value) == "0 kB":
			found = append(found, m)
		}
	}
	return found, smaps.Err()
}
