package ui_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay/observe"
)

// Through reads patches where it can, Follow whole objects: the feed is the same,
// of recordings as of simulated rolls.
func TestPatchesShowWhatWholeObjectsShow(t *testing.T) {
	tapes := map[string]*ui.Tape{}
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, name := range files {
		tapes[filepath.Base(name)] = ui.File(name, nil)
	}
	for _, name := range []string{"percentage", "surge", "stuck-drain", "spot-loss", "inplace-image"} {
		tapes[name] = shipped(name)
	}
	for name, tape := range tapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var feeds [2]bytes.Buffer
			for i := range feeds {
				r, err := tape.Reader()
				if err != nil {
					t.Fatal(err)
				}
				o, err := observe.OptionsFor(r.Header(), "", "", "")
				if err != nil {
					t.Fatal(err)
				}
				feed := ui.NewFeedWriter(&feeds[i])
				feed.Verbose = true
				d := ui.NewDriver(ui.NewView(r.Header(), o), feed)
				d.View.Verbose = true
				if i == 0 {
					err = ui.Follow(t.Context(), r, d)
				} else {
					err = ui.Through(t.Context(), r, d)
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := feed.Flush(); err != nil {
					t.Fatal(err)
				}
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if feeds[0].Len() == 0 {
				t.Error("the feed is empty")
			}
			if d := cmp.Diff(feeds[0].String(), feeds[1].String()); d != "" {
				t.Errorf("(-whole +patches):\n%s", d)
			}
		})
	}
}
