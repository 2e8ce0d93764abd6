package recorder_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// helperEnv makes the test binary a process of its own: one that can be
// killed, whose files can be limited, and whose CPU can be measured.
const helperEnv = "NODESIM_RECORDER_HELPER"

// helpers are the roles; what they need comes in through the environment.
var helpers = map[string]func() int{"record": recordHelper}

// startHelper runs this test binary in a role.
func startHelper(t testing.TB, role string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, helperEnv+"="+role)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// recordHelper records HELPER_RESOURCES from the cluster of HELPER_KUBECONFIG
// or HELPER_HOST to HELPER_TAPE, until every resource has shown an object
// whose name is HELPER_END. It says "recording" when the tape is open. With
// HELPER_LIMIT the tape can't grow beyond so many bytes.
func recordHelper() int {
	debug.SetMemoryLimit(400 << 20) // as the command does
	config, err := helperConfig()
	if err != nil {
		return complain(err)
	}
	if limit, err := strconv.ParseUint(os.Getenv("HELPER_LIMIT"), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return complain(err)
		}
	}
	tape := os.Getenv("HELPER_TAPE")
	resources := strings.Split(os.Getenv("HELPER_RESOURCES"), ",")
	ended := map[string]bool{}
	cfg := recorder.Config{
		REST: config, Name: "test", Resources: resources,
		Stop: func(ev timeline.Event) bool {
			if ev.Name == os.Getenv("HELPER_END") {
				ended[ev.Resource] = true
			}
			return len(ended) == len(resources)
		},
	}
	if _, err := os.Stat(tape); err == nil {
		w, resume, err := timeline.Append(tape)
		if err != nil {
			return complain(err)
		}
		for ev := range resume.Objects() {
			cfg.Stop(ev)
		}
		cfg.Out, cfg.Resume, cfg.Resources = w, resume, nil
		fmt.Println("recording")
	} else {
		cfg.Open = func(h timeline.Header) (*timeline.Writer, error) {
			fmt.Println("recording")
			return timeline.Create(tape, h)
		}
	}
	rec, err := recorder.New(cfg)
	if err != nil {
		return complain(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if _, err := rec.Run(ctx); err != nil {
		return complain(err)
	}
	return 0
}

// helperConfig returns a helper's configuration of its cluster: HELPER_KUBECONFIG, or
// HELPER_HOST without credentials.
func helperConfig() (*rest.Config, error) {
	if path := os.Getenv("HELPER_KUBECONFIG"); path != "" {
		return clientcmd.BuildConfigFromFlags("", path)
	}
	config := &rest.Config{Host: os.Getenv("HELPER_HOST")}
	config.Insecure = strings.HasPrefix(config.Host, "https:")
	return config, nil
}

func complain(err error) int {
	fmt.Println("error:", err)
	return 1
}
