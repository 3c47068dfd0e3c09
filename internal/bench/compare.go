package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// compare writes what two runs measured side by side, a line for each row that
// both have. Old and new are the files of their -json.
func compare(to io.Writer, oldFile, newFile string) error {
	before, err := readReport(oldFile)
	if err != nil {
		return err
	}
	after, err := readReport(newFile)
	if err != nil {
		return err
	}
	var rows strings.Builder
	fmt.Fprintln(&rows, "\twork\told\tnew\tnew / old\tratio to the limit, old\tnew\t")
	for _, now := range after.Rows {
		was := before.find(now)
		if was == nil || was.Measured == nil || now.Measured == nil {
			continue
		}
		fmt.Fprintf(&rows, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", now.Figure, now.Work, was.Measured.text(), now.Measured.text(),
			quotient(now.Measured.Value, was.Measured.Value), ratioText(was.Ratio), ratioText(now.Ratio), now.Verdict)
	}
	return writeTable(to, rows.String())
}

func readReport(path string) (*Report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// find returns the row of the same figure and work, or nil if there is none.
func (r *Report) find(other Row) *Row {
	for i := range r.Rows {
		if r.Rows[i].Figure == other.Figure && r.Rows[i].Work == other.Work {
			return &r.Rows[i]
		}
	}
	return nil
}

func quotient(a, b float64) string {
	if b == 0 {
		return ""
	}
	return plain(a / b)
}

// ratioText returns a ratio as text, and "" for 0: there is no limit.
func ratioText(ratio float64) string {
	if ratio == 0 {
		return ""
	}
	return plain(ratio)
}
