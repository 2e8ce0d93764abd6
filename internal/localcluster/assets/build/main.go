// Command build is `make controlplane`: it downloads or builds the control plane that the tests need, unless it is there,
// kwok as well where it is asked for, and prints the folder to export as KUBEBUILDER_ASSETS. Standard output holds the
// folder alone; progress is on standard error.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/nodesim/nodesim/internal/localcluster/assets"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	supply := assets.Supply{Log: os.Stderr}
	flag.StringVar(&supply.Kubernetes, "kubernetes", "", "the `VERSION` of Kubernetes: one of "+strings.Join(assets.Minors(), ", ")+
		" (default: what KUBEBUILDER_ASSETS has, or "+assets.KubernetesVersion+")")
	flag.BoolVar(&supply.Offline, "offline", false, "use no network: build what isn't there from Go's module cache")
	minors := flag.Bool("minors", false, "print the minors of Kubernetes that there are, and do nothing")
	flag.Parse()
	if *minors {
		fmt.Println(strings.Join(assets.Minors(), " "))
		return
	}
	args := flag.Args()
	if len(args) < 1 || len(args) > 2 || len(args) == 2 && args[1] != assets.Kwok {
		fmt.Fprintf(os.Stderr, "usage: %s [flags] FOLDER [kwok]: found %q, want the folder test/controlplane, and kwok where benchmarks need it\n",
			os.Args[0], args)
		os.Exit(2)
	}
	folder, err := supply.Build(ctx, args[0], args[1:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
	fmt.Println(folder)
}
