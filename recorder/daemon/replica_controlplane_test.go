//go:build controlplane

package daemon_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	service "github.com/nodesim/nodesim/internal/app/daemon"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/recorder/daemon"
	"k8s.io/client-go/tools/clientcmd"
)

// replicaEnv makes the test binary a recorder as the chart runs it, one of several: its folder. HELPER_KUBECONFIG and HELPER_STORE are those of
// helperEnv, HELPER_LEASE is the Lease of the election, as NAMESPACE/NAME.
const replicaEnv = "NODESIM_REPLICA_HELPER"

// replicaHelper records until it is told to end. What was before a roll it keeps for longer than a campaign takes, and no roll is long enough
// for a second tape: replicas split rolls at different times, so that a change of the leader may lose what is between two parts.
func replicaHelper() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("HELPER_KUBECONFIG"))
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	err = service.Run(ctx, service.Options{
		Daemon: daemon.Options{
			Dir: os.Getenv(replicaEnv), Quiet: 5 * time.Second, Before: time.Hour,
			Record: recorder.Config{REST: config, Name: "test", Resources: []string{"nodes"}},
		},
		Store: "file://" + os.Getenv("HELPER_STORE"), Lease: os.Getenv("HELPER_LEASE"), Log: os.Stdout,
	})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}
