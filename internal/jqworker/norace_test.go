//go:build !race

package jqworker

// tableRows is how long a table a filter has to sort: one of a MiB.
const tableRows = 17_001
