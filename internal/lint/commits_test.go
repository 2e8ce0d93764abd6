package lint

import (
	"strings"
	"testing"
)

func TestMessage(t *testing.T) {
	for message, want := range map[string]string{
		"recorder: watch on from the last version\n\nA restart lost events.\n":  "",
		"Feed lines to the panel\n\nIt was blind.":                              "",
		"recorder: watch on\n":                                                  "found no body",
		"recorder: watched on\n\nWhy.":                                          "in the imperative",
		"Moving packages\n\nWhy.":                                               "in the imperative",
		"One function counts nodes\n\nWhy.":                                     "in the imperative",
		"Count nodes.\n\nWhy.":                                                  "without a full stop",
		"Count nodes " + strings.Repeat("and more ", 8) + "of them\n\nBecause.": "found a subject of 91 characters",
	} {
		wrong := strings.Join(Message(message), "; ")
		if want == "" && wrong != "" || !strings.Contains(wrong, want) {
			t.Errorf("Message(%q): found %q, want %q", message, wrong, want)
		}
	}
}
