// Command nodesim records the roll of a group of Kubernetes nodes, replays it,
// and pins down what tools say about it. `nodesim --help` tells the rest.
//
// Each verb has a file of its own, which parses flags and wires; what it calls
// is a library. Exit status: 0 done, 1 failed or not as expected, 2 wrong
// usage, 3 recorded with gaps.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/go-logr/logr"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"k8s.io/klog/v2"
)

func main() {
	klog.SetLogger(logr.Discard()) // client-go would write its own lines across a panel
	// The first signal ends the work cleanly, a second one the program.
	ctx, stop := signal.NotifyContext(context.Background(), terminal.EndSignals()...)
	context.AfterFunc(ctx, stop)
	code := run(ctx, newRoot(), os.Args[1:])
	stop()
	os.Exit(code)
}
