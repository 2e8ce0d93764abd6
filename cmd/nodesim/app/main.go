// Package app is the command line of nodesim. It is a package of its own so that programs can link it with more than
// [cmd/nodesim] does.
//
// Each verb has a file of its own, which parses flags and wires; what it calls is a library. Exit status: 0 done, 1 failed or
// not as expected, 2 wrong usage, 3 recorded with gaps.
//
// [cmd/nodesim]: https://github.com/nodesim/nodesim/tree/main/cmd/nodesim
package app

import (
	"context"
	"os"
	"os/signal"

	"github.com/go-logr/logr"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"k8s.io/klog/v2"
)

// Main executes the command line of the process and ends it. The first signal that asks for the end ends the work
// cleanly, a second one the program.
func Main() {
	klog.SetLogger(logr.Discard()) // client-go would write its own lines across a panel
	ctx, stop := signal.NotifyContext(context.Background(), terminal.EndSignals()...)
	context.AfterFunc(ctx, stop)
	code := run(ctx, newRoot(), os.Args[1:])
	stop()
	os.Exit(code)
}
