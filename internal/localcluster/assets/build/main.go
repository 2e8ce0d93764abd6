// Command build is `make controlplane`: it builds the control plane that the tests need, unless it is there, kwok as
// well where it is asked for, and prints the folder to export as KUBEBUILDER_ASSETS. Standard output holds the folder alone; progress is on standard
// error.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/nodesim/nodesim/internal/localcluster/assets"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) < 2 || len(os.Args) > 3 || len(os.Args) == 3 && os.Args[2] != assets.Kwok {
		fmt.Fprintf(os.Stderr, "usage: %s FOLDER [kwok]: found %q, want the folder test/controlplane, and kwok where benchmarks need it\n",
			os.Args[0], os.Args[1:])
		os.Exit(2)
	}
	folder, err := assets.Build(ctx, os.Args[1], os.Stderr, os.Args[2:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
	fmt.Println(folder)
}
