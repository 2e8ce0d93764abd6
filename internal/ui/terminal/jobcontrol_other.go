//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package terminal

import (
	"context"
	"os"
	"os/signal"
	"sync"
)

// Hold has the second ctrl-c give a terminal back before it ends the program, until
// release is called.
func Hold(ctx context.Context, _ *os.File, loans ...Suspendable) (release func()) {
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt)
	var watching sync.WaitGroup
	watching.Go(func() {
		for asked := ctx.Err() != nil; ; asked = true {
			select {
			case <-signals:
				if asked {
					suspendAll(loans)
					os.Exit(1)
				}
			case <-done:
				return
			}
		}
	})
	return func() {
		signal.Stop(signals)
		close(done)
		watching.Wait()
	}
}
