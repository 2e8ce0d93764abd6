package daemon_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/recorder/daemon"
	"github.com/nodesim/nodesim/recorder/store"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
)

// helperEnv makes the test binary a daemon of its own, which can be killed: its folder. HELPER_KUBECONFIG names the cluster,
// HELPER_STORE a folder that the tapes go to.
const helperEnv = "NODESIM_DAEMON_HELPER"

// helper records until it is told to end.
func helper() int {
	signal.Ignore(syscall.SIGXFSZ) // a file that can't grow is an error of the write
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("HELPER_KUBECONFIG"))
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	bucket, err := store.Open(context.Background(), "file://"+os.Getenv("HELPER_STORE"))
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	told := make(chan struct{}, 1)
	up := &store.Uploader{
		Folder: filepath.Join(os.Getenv(helperEnv), "tapes"), Store: bucket, Clock: clock.RealClock{},
		Failed: func(err error) { fmt.Println("upload:", err) },
	}
	d, err := daemon.New(daemon.Options{
		Dir: os.Getenv(helperEnv), Quiet: time.Minute, Before: 5 * time.Second, MaxAge: 10 * time.Second, FinishOnStop: os.Getenv("HELPER_FINISH") != "",
		Record: recorder.Config{REST: config, Name: "test", Resources: []string{"nodes"}},
		Finished: func(store.Tape, string) {
			select {
			case told <- struct{}{}:
			default:
			}
		},
		Log: func(_ daemon.Level, message string, args ...any) { fmt.Println(append([]any{message}, args...)...) },
	})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go up.Run(ctx, told, time.Second)
	if err := d.Run(ctx); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}
