// Package app is the command line of nodesim. It is a package of its own so that programs can link it with more than
// [cmd/nodesim] does.
//
// Each verb has a file of its own, which parses flags and wires; what it calls is a library. Exit status: 0 done, 1 failed or
// not as expected, 2 wrong usage, 3 recorded with gaps, 4 a shard that was ended before it was done.
//
// [cmd/nodesim]: https://github.com/nodesim/nodesim/tree/main/cmd/nodesim
package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/go-logr/logr"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/internal/version"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // what kubectl links: oidc, and for azure and gcp what to use instead
	"k8s.io/klog/v2"
)

// Main executes the command line of the process and ends it. The first signal that asks for the end ends the work
// cleanly, a second one the program.
func Main() {
	defer crashed(os.Stderr)
	klog.SetLogger(logr.Discard()) // client-go would write its own lines across a panel
	ctx, stop := signal.NotifyContext(context.Background(), terminal.EndSignals()...)
	context.AfterFunc(ctx, stop)
	root := newRoot()
	if isPlugin(os.Args[0]) {
		asPlugin(root)
	}
	code := run(ctx, root, os.Args[1:])
	stop()
	os.Exit(code)
}

// crashed says, where the goroutine that deferred it panics, which program that was, and panics on with the stack.
func crashed(w io.Writer) {
	if p := recover(); p != nil {
		is := version.Get()
		fmt.Fprintf(w, "nodesim %s %s %s has crashed: this is a bug; what follows, and what nodesim version -o json prints, belong into its report\n",
			is.Version, is.Go, is.Platform)
		panic(p)
	}
}
