package app

import (
	"os"
	"strings"
	"testing"
)

// Every nodesim cluster in the manual is one that the program takes.
func TestTheManualOfClusterCanBeTyped(t *testing.T) {
	text, err := os.ReadFile("../../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	typed := 0
	for line := range strings.Lines(string(text)) {
		_, command, is := strings.Cut(line, "nodesim cluster ")
		if !is || !strings.HasPrefix(line, "$ ") {
			continue
		}
		command, _, _ = strings.Cut(command, " >")
		words := strings.Fields(strings.TrimRight(strings.TrimSpace(command), `)"`))
		cmd, rest, err := newCluster().Find(words)
		if err != nil || !cmd.HasParent() {
			t.Errorf("%s: found no such verb: %v", words, err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%s: %v", words, err)
		}
		if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
			t.Errorf("%s: %v", words, err)
		}
		typed++
	}
	if typed < 8 {
		t.Errorf("found %d commands, want 8 or more", typed)
	}
}
