//go:build !linux

package jqworker

import "errors"

// limit fails: what other systems offer does not bound the memory of a Go
// program.
func limit(uint64, uint64) error {
	return errors.New("only Linux bounds the memory of a process so that it holds")
}
