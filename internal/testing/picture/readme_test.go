package picture_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/internal/testing/picture"
)

func TestMain(m *testing.M) { golden.Main(m) }

const columns = 88

// panelOfREADME is the second of three nodes, half drained, as a terminal shows
// it under the command in the picture's title.
func panelOfREADME(t *testing.T) string {
	t.Helper()
	panel, err := picture.Panel(t.Context(), filepath.Join("..", "..", "..", "examples", "surge.yaml"), picture.Shot{
		At: 30 * time.Second, Width: columns, Height: 24, Speed: "10x", Hint: "space pause, q quit",
	})
	if err != nil {
		t.Fatal(err)
	}
	return panel
}

// The picture in the README is the panel that the program shows today.
func TestREADMEShowsThisPanel(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "panel.svg")
	got := picture.SVG(panelOfREADME(t), picture.Window{Title: "nodesim replay examples/surge.yaml --speed 10x", Columns: columns})
	if golden.Updating() {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: make it with: NODESIM_UPDATE=1 go test ./internal/testing/picture", err)
	}
	file := strings.ReplaceAll(string(want), "\r\n", "\n")
	if d := cmp.Diff(strings.Split(file, "\n"), strings.Split(string(got), "\n")); d != "" {
		t.Errorf("docs/panel.svg is not what the panel of examples/surge.yaml looks like (-file +panel); after a new recording or a new look, "+
			"accept it with: NODESIM_UPDATE=1 go test ./internal/testing/picture, and look at the picture: it is to show a drain half done\n%s", d)
	}
}
