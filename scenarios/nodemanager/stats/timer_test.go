package stats_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager/stats"
)

func ExampleLoopTimer() {
	c := clocktesting.NewFakeClock(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC))
	timer := stats.NewLoopTimer(c)
	for _, d := range []time.Duration{time.Second, 3 * time.Second} {
		timer.StartLoop()
		c.Step(d)
		timer.EndLoop()
	}
	fmt.Println(timer.Times().LastLoop, timer.Times().Average, timer.Times().Count)
	// Output: 3s 2s 2
}

func TestJSON(t *testing.T) {
	c := clocktesting.NewFakeClock(time.Unix(0, 0).UTC())
	timer := stats.NewLoopTimer(c)
	timer.StartLoop()
	c.Step(time.Second)
	timer.EndLoop()
	got, err := json.Marshal(timer)
	want := `{"Start":"1970-01-01T00:00:00Z","End":"1970-01-01T00:00:01Z","LastLoop":1000000000,"Average":1000000000,"Count":1}`
	if err != nil || string(got) != want {
		t.Errorf("found %s, %v, want %s", got, err, want)
	}
}
