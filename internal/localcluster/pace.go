package localcluster

import (
	"math"
	"strconv"
	"time"
)

// A Pace holds the control plane's own delays at a speed. Each is that of Kubernetes at speed 1, divided, and
// no shorter than its program can make use of.
type Pace struct {
	// NodeMonitor is the interval at which kube-controller-manager looks at the nodes (--node-monitor-period, 5 s; no
	// less than 100 ms), NodeGrace how long one may be silent (--node-monitor-grace-period, 50 s; no less than 1 s),
	// NodeStartup how long a new one (--node-startup-grace-period, 60 s; no less than 1 s). A kubelet renews its lease
	// five times in NodeGrace: every 10 s, divided.
	NodeMonitor, NodeGrace, NodeStartup time.Duration

	// EvictionRate and SlowEvictionRate are the numbers of silent nodes tainted a second in a zone
	// (--node-eviction-rate, 0.1, and --secondary-node-eviction-rate, 0.01), multiplied.
	EvictionRate, SlowEvictionRate float64

	// Toleration is the number of seconds pods stay on a node that isn't ready or can't be reached, unless they say so
	// themselves (--default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds of
	// kube-apiserver, 300; no less than 1).
	Toleration int

	// Backoff is the most seconds that a pod waits which found no node (podMaxBackoffSeconds of kube-scheduler, 10;
	// no less than its least, 1). Flush is after how long such pods are looked at again in any case
	// (--pod-max-in-unschedulable-pods-duration, 5 min; no less than 5 s).
	Backoff int
	Flush   time.Duration
}

// PaceAt is the pace at a speed, which is larger than 0.
func PaceAt(speed float64) Pace {
	divide := func(d, least time.Duration) time.Duration {
		return max(least, time.Duration(float64(d)/speed).Round(time.Millisecond))
	}
	seconds := func(n float64) int { return max(1, int(math.Round(n/speed))) }
	return Pace{
		NodeMonitor: divide(5*time.Second, 100*time.Millisecond),
		NodeGrace:   divide(50*time.Second, time.Second),
		NodeStartup: divide(time.Minute, time.Second),

		EvictionRate: 0.1 * speed, SlowEvictionRate: 0.01 * speed,

		Toleration: seconds(300),
		Backoff:    seconds(10),
		Flush:      divide(5*time.Minute, 5*time.Second),
	}
}

// number spells a rate as flags do.
func number(rate float64) string { return strconv.FormatFloat(rate, 'g', 6, 32) }
