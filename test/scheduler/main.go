// Command scheduler is kube-scheduler's own code as a judge: it reads worlds, each a line of JSON on standard input, and
// says of each pod that waits in one where kube-scheduler would run it, and why it would run nowhere else. It is what the
// simulated scheduler is compared with.
//
// In: nodes, what runs on them, and pods that wait, as objects of the API. Out: a line of JSON for each world. It is a
// module of its own, since k8s.io/kubernetes can't be a part of the program, and no server runs: informers of client-go's
// fake clientset feed the scheduler, and each pod goes through one call of ScheduleOne.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

func main() {
	klog.SetLogger(logr.Discard())
	// Victims are told in the cycle that chose them.
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{"SchedulerAsyncPreemption": false}); err != nil {
		fail(err)
	}
	if err := answer(klog.NewContext(context.Background(), logr.Discard()), os.Stdin, os.Stdout); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "scheduler:", err)
	os.Exit(1)
}

// answer judges one world after the other, until there is none.
func answer(ctx context.Context, in io.Reader, out io.Writer) error {
	from, to := json.NewDecoder(bufio.NewReader(in)), bufio.NewWriter(out)
	for {
		var w World
		if err := from.Decode(&w); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a world: %w", err)
		}
		var a Answer
		verdicts, err := judge(ctx, &w)
		if a.Verdicts = verdicts; err != nil {
			a.Error = err.Error()
		}
		if err := json.NewEncoder(to).Encode(a); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
		if err := to.Flush(); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
	}
}
