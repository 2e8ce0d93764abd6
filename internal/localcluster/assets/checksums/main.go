// Command checksums prints rows of released.tsv for versions of Kubernetes, with the checksums that are published beside
// the programs: PROGRAM.sha256 at dl.k8s.io, and SHA256SUMS of etcd's release. A maintainer puts them into the table. It
// downloads no program.
//
//	go run ./internal/localcluster/assets/checksums 1.36.4 > rows
//	go run ./internal/localcluster/assets/checksums -etcd 3.6.9 >> rows
//
// A row that the table has with another checksum is an error: what is released doesn't change.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/nodesim/nodesim/internal/localcluster/assets"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	etcd := flag.String("etcd", "", "rows of this `VERSION` of etcd too")
	flag.Parse()
	if flag.NArg() == 0 && *etcd == "" {
		fmt.Fprintf(os.Stderr, "usage: %s [-etcd VERSION] VERSION...: found no version, want one of Kubernetes such as %s\n",
			os.Args[0], assets.KubernetesVersion)
		os.Exit(2)
	}
	rows, err := assets.Published(ctx, os.Stderr, *etcd, flag.Args()...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "checksums:", err)
		os.Exit(1)
	}
	for _, r := range rows {
		fmt.Println(r.Row())
	}
}
