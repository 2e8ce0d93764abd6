package examples_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/observe"
)

// What a KubeObserver finds through the API, by lists or by watches, is after
// each event what a Follower reads off the tape: one panel serves both.
func TestObserversAgree(t *testing.T) {
	moments := 0
	for _, name := range tapes(t) {
		for _, watches := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/watches=%t", name, watches), func(t *testing.T) {
				client, err := fakeclient.New(replay.File(name))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = client.Close() }()
				tape := open(t, name)
				o := options(t, tape.Header())
				follower := observe.New(tape.Header(), o)
				o.Target.Auto = true // as a Feed does by itself
				clock := clocktesting.NewFakeClock(follower.Now())
				kube := noderoll.NewKubeObserverWithOptions(client, noderoll.KubeOptions{
					StateOptions: o.StateOptions, Clock: clock, Budgets: client.PolicyV1().PodDisruptionBudgets(""),
				})
				if watches {
					if err := kube.StartInformers(t.Context()); err != nil {
						t.Fatal(err)
					}
					defer kube.StopInformers()
				}
				applied, compared := 0, 0
				for ; ; compared++ {
					for ; applied < client.Player().Status().Number; applied++ {
						ev, err := tape.Next()
						if err != nil {
							t.Fatal(err)
						}
						if _, err := follower.Apply(ev); err != nil {
							t.Fatal(err)
						}
					}
					clock.SetTime(follower.Now())
					want, err := follower.Snapshot(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					diff := func() string {
						got, err := kube.Snapshot(t.Context())
						if err != nil {
							t.Fatal(err)
						}
						return cmp.Diff(want, got)
					}
					d := diff()
					for late := time.Now().Add(time.Minute); watches && d != "" && time.Now().Before(late); d = diff() {
						runtime.Gosched() // the informers' goroutines haven't taken the event yet
					}
					if d != "" {
						t.Fatalf("at %s (-follower +kube observer):\n%s", follower.At(), d)
					}
					if err := client.Step(t.Context()); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatal(err)
					}
				}
				if compared < 5 {
					t.Errorf("only %d moments were compared", compared)
				}
				moments += compared
			})
		}
	}
	if moments < 500 {
		t.Errorf("only %d moments were compared in all", moments)
	}
}
