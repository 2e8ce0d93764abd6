package ui_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay/observe"
)

// The limit is 200 ms from the start of the program to the first panel; this is
// the program's part of it, the tape's length included.
func BenchmarkFirstPanel(b *testing.B) {
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		tape := ui.File("../../cmd/nodesim/app/testdata/tapes/demo.yaml", nil)
		r, err := tape.Reader()
		if err != nil {
			b.Fatal(err)
		}
		o, err := observe.OptionsFor(r.Header(), "", "", "")
		if err != nil {
			b.Fatal(err)
		}
		t := ui.Terminal{Out: first(cancel), Size: func() (int, int) { return 120, 40 }}
		err = ui.OnTerminal(ctx, tape, r, ui.NewDriver(ui.NewView(r.Header(), o), nil), t)
		if !errors.Is(err, context.Canceled) {
			b.Fatal(err)
		}
	}
}

// first is a screen that ends everything with its first panel.
type first func()

func (f first) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
