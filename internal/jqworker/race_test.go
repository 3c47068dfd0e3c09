//go:build race

package jqworker

// tableRows is how long a table a filter has to sort within its second. The race detector
// makes it take four times as long.
const tableRows = 4_001
