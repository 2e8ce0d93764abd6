package app

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/terminal"
)

// stubborn is a program with a panel that a first signal doesn't end, as one that
// still has something to remove: what it says meanwhile is held.
func stubborn() {
	ctx, stop := signal.NotifyContext(context.Background(), terminal.EndSignals()...)
	defer stop()
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitFailed)
	}
	lines := &terminal.Stderr{Out: tty}
	keys := terminal.ReadKeys(tty)
	screen := ui.NewScreen(tty)
	_ = lines.Resume() // never fails
	defer terminal.Hold(ctx, tty, screen, keys, lines)()
	draw := func(panel string) {
		if err := screen.Draw(panel); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	draw("a panel")
	<-ctx.Done()
	fmt.Fprintln(lines, "a held line")
	draw("it still works")
	select {}
}
