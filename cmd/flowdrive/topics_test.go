package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTopics: help prints each topic, and the page about commands names all of them.
func TestTopics(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range topics() {
		text, err := topic.text()
		if err != nil || !strings.HasPrefix(string(text), "#") {
			t.Errorf("%s: %v: %.80q", topic.name, err, text)
		}
		if !strings.Contains(string(page), "`"+topic.name+"`") {
			t.Errorf("docs/commands.md does not name %s", topic.name)
		}
	}
	codes, err := topic{file: "commands.md#exit-codes"}.text()
	if err != nil || !strings.Contains(string(codes), "| 130 |") || strings.Contains(string(codes), "## For programs") {
		t.Errorf("%v: %s", err, codes)
	}
	if text, err := (topic{file: "commands.md#nothing"}).text(); err == nil {
		t.Errorf("a section that is not there is %.80q", text)
	}
}
