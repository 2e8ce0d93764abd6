package ctl_test

import (
	"os"
	"time"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/internal/app/ctl"
	"github.com/nodesim/nodesim/noderoll"
)

func status() control.Status {
	return control.Status{
		Tape: "stuck-drain", Position: control.Seconds(92400 * time.Millisecond), Duration: control.Seconds(7 * time.Minute),
		Events: 446, Speed: "20x", Paused: true, Rewinds: 1,
		Markers: []control.Marker{{Name: "before the drain", At: control.Seconds(90 * time.Second), Set: true}},
		Watches: []control.Watch{{Resource: "pods", Namespace: "shop", LabelSelector: "app=web", Version: "530", Lag: 3}},
		Faults:  []control.Fault{{At: control.Seconds(time.Minute), Text: "T+1m00.000s  fault drop  nodes ip-10-0-1-10"}},
	}
}

func ExampleAppendStatus() {
	_, _ = os.Stdout.Write(ctl.AppendStatus(nil, status()))
	// Output:
	// stuck-drain  T+1m32.400s of T+7m00.000s  20x  paused
	// 446 events, 1 rewind
	// marker T+1m30.000s  before the drain
	// watch  pods -n shop -l app=web  at version 530, 3 events behind
	// T+1m00.000s fault drop nodes ip-10-0-1-10
}

func ExampleAppendStepped() {
	_, _ = os.Stdout.Write(ctl.AppendStepped(nil, control.Stepped{
		Events: 105, Status: status(),
		Applied: []control.Applied{
			{At: control.Seconds(92 * time.Second), Type: "MODIFIED", Resource: "nodes", Name: "ip-10-0-1-10"},
			{At: control.Seconds(92 * time.Second), Type: "DELETED", Resource: "pods", Namespace: "shop", Name: "web\x1b[2J-1"},
			{At: control.Seconds(92 * time.Second), Type: "SYNC", Resource: "nodes"},
			{At: control.Seconds(92 * time.Second), Type: "MARK", Name: "failed"},
			{At: control.Seconds(92 * time.Second), Type: "END"},
		},
		Transitions: []noderoll.Entry{{At: 92 * time.Second, Kind: noderoll.EvtNotReady, Node: "ip-10-0-1-10\x1b[2J"}},
	}))
	// Output:
	// … after 100 events more
	// T+1m32.000s  MODIFIED  nodes ip-10-0-1-10
	// T+1m32.000s  DELETED   pods shop/web�[2J-1
	// T+1m32.000s  SYNC      nodes
	// T+1m32.000s  MARK      failed
	// T+1m32.000s  END
	// T+1m32.000s  notready    ip-10-0-1-10�[2J
	// stuck-drain  T+1m32.400s of T+7m00.000s  20x  paused
}
