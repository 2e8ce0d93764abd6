// Command build is `make controlplane`: it builds the control plane that the tests need, unless it is there, and
// prints the folder to export as KUBEBUILDER_ASSETS. Standard output holds the folder alone; progress is on standard
// error.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/nodesim/nodesim/internal/controlplane/assets"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintf(os.Stderr, "usage: %s FOLDER: found %d arguments, want the folder test/controlplane\n",
			os.Args[0], len(os.Args)-1)
		os.Exit(2)
	}
	folder, err := assets.Build(ctx, os.Args[1], os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
	fmt.Println(folder)
}
