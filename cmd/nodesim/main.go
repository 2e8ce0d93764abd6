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
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	// Whoever has something to say says it through warn; controller-runtime would
	// complain on standard error that nobody listens to it.
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard()) // client-go would write its own lines across a panel
	// The first signal ends the work in good order, a second one the program.
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	context.AfterFunc(ctx, stop)
	code := run(ctx, newRoot(), os.Args[1:])
	stop()
	os.Exit(code)
}

// endSignals are those that end the program. A terminal that is closed sends SIGHUP,
// which nohup keeps away.
func endSignals() []os.Signal {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	return ends
}
