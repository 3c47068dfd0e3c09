//go:build !linux

package main

import "os"

// dataSync waits until what was written is on the disk.
func dataSync(f *os.File) error { return f.Sync() }
