package picture_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/picture"
)

func TestPanelNeedsATapeThatIsThere(t *testing.T) {
	tape := filepath.Join("..", "..", "..", "examples", "surge.yaml")
	for _, c := range []struct {
		name, path string
		at         time.Duration
		want       string
	}{
		{"before it", tape, -1, "want a position from 0s to the tape's end at 55.4"},
		{"after it", tape, time.Hour, "no panel at 1h0m0s"},
		{"no tape", filepath.Join("testdata", "none.yaml"), 0, "none.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			panel, err := picture.Panel(t.Context(), c.path, picture.Shot{At: c.at, Width: 80, Height: 24})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("panel %q, error %v, want one with %q", panel, err, c.want)
			}
		})
	}
}
