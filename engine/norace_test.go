//go:build !race

package engine_test

// raceDetector says that everything takes ten times as long.
const raceDetector = false
