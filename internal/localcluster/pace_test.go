package localcluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// At speed 1 every delay is the default of kube-controller-manager, kube-apiserver and kube-scheduler 1.36.
func TestPace(t *testing.T) {
	for speed, want := range map[float64]Pace{
		1: {
			NodeMonitor: 5 * time.Second, NodeGrace: 50 * time.Second, NodeStartup: time.Minute, EvictionRate: 0.1,
			SlowEvictionRate: 0.01, Toleration: 300, Backoff: 10, Flush: 5 * time.Minute,
		},
		10: {
			NodeMonitor: 500 * time.Millisecond, NodeGrace: 5 * time.Second, NodeStartup: 6 * time.Second, EvictionRate: 1,
			SlowEvictionRate: 0.1, Toleration: 30, Backoff: 1, Flush: 30 * time.Second,
		},
		fastest: {
			NodeMonitor: 100 * time.Millisecond, NodeGrace: time.Second, NodeStartup: time.Second, EvictionRate: 1000,
			SlowEvictionRate: 100, Toleration: 1, Backoff: 1, Flush: 5 * time.Second,
		},
	} {
		if diff := cmp.Diff(want, PaceAt(speed)); diff != "" {
			t.Errorf("speed %v (-want +got):\n%s", speed, diff)
		}
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", t.TempDir())
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{Speed: -1}, "control plane: speed -1: want 0.01 to 10000"},
		{Options{Port: 65536}, "control plane: port 65536: want 1 to 65535, or 0 for a free one"},
		{
			Options{Flags: map[string]map[string]string{"kubelet": nil}},
			`control plane: flags of "kubelet": want those of etcd, kube-apiserver, kube-controller-manager, kube-scheduler`,
		},
	} {
		if _, err := Start(t.Context(), c.options); err == nil || err.Error() != c.want {
			t.Errorf("found %v, want %s", err, c.want)
		}
	}
}
