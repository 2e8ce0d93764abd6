package daemon_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/recorder/daemon"
	"k8s.io/client-go/tools/clientcmd"
)

// helperEnv makes the test binary a daemon of its own, which can be killed: its folder. HELPER_KUBECONFIG names the cluster.
const helperEnv = "NODESIM_DAEMON_HELPER"

// helper records until it is told to end.
func helper() int {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("HELPER_KUBECONFIG"))
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	d, err := daemon.New(daemon.Options{
		Dir: os.Getenv(helperEnv), Quiet: 3 * time.Second, Before: 5 * time.Second, MaxAge: 10 * time.Second, FinishOnStop: os.Getenv("HELPER_FINISH") != "",
		Record: recorder.Config{REST: config, Name: "test", Resources: []string{"nodes"}},
		Log:    func(_ daemon.Level, message string, args ...any) { fmt.Println(append([]any{message}, args...)...) },
	})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := d.Run(ctx); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}
