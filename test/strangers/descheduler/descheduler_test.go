package descheduler_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/descheduler/cmd/descheduler/app/options"
	"sigs.k8s.io/descheduler/pkg/descheduler"
	"sigs.k8s.io/descheduler/pkg/features"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"

	"github.com/nodesim/nodesim/test/strangers/place"
)

func TestInASimulatedCluster(t *testing.T) { place.Simulated(t, deschedule) }

// policy has pods evicted that don't tolerate their node's taints.
const policy = `
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: taints
  pluginConfig:
  - name: DefaultEvictor
  - name: RemovePodsViolatingNodeTaints
  plugins:
    deschedule:
      enabled: [RemovePodsViolatingNodeTaints]
`

// deschedule runs two deschedulers, one of which leads, and taints a node. The leader evicts the node's pods; when it
// ends, the other leads and does the same with another node.
func deschedule(p *place.Place) {
	p.Fill()
	file := filepath.Join(p.TempDir(), "policy.yaml")
	p.Must(os.WriteFile(file, []byte(policy), 0o600))
	descheduler.SetupPlugins()
	loaded, err := descheduler.LoadPolicyConfig(file, p.Kube, pluginregistry.PluginRegistry)
	p.Must(err)
	control := func(ctx context.Context) error {
		rs, err := options.NewDeschedulerServer()
		if err != nil {
			return err
		}
		rs.Client, rs.EventClient, rs.DefaultFeatureGates = p.Kube, p.Kube, features.DefaultMutableFeatureGate
		rs.DisableMetrics, rs.DeschedulingInterval = true, 10*time.Second
		rs.LeaderElection.LeaseDuration.Duration, rs.LeaderElection.RenewDeadline.Duration = 15*time.Second, 10*time.Second
		rs.LeaderElection.RetryPeriod.Duration = 2 * time.Second
		lead := func() error { return descheduler.RunDeschedulerStrategies(ctx, rs, loaded, "v1") }
		return descheduler.NewLeaderElection(lead, p.Kube, &rs.LeaderElection, ctx)
	}
	p.KeepsTheBudget(func() {
		var second context.CancelFunc
		ended := make(chan error, 1)
		var first string
		p.During(control, func() {
			first = p.UntilHeld("descheduler", "")
			ctx, cancel := context.WithCancel(p.Context())
			second = cancel
			go func() { ended <- control(ctx) }()
			emptied(p)
		})
		if holder := p.UntilHeld("descheduler", first); holder == first {
			p.Errorf("%s holds the Lease after its end", first)
		}
		emptied(p)
		second()
		p.Must(<-ended)
	})
}

// emptied taints the busiest node and waits until its pods run elsewhere.
func emptied(p *place.Place) {
	p.Helper()
	node := p.Busiest()
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "maintenance", Effect: corev1.TaintEffectNoSchedule})
	_, err := p.Kube.CoreV1().Nodes().Update(p.Context(), node, metav1.UpdateOptions{})
	p.Must(err)
	p.Eventually(10*time.Minute, node.Name+" to be empty", func() (bool, string) {
		left := p.Pods("web", node.Name)
		return len(left) == 0, fmt.Sprintf("%d pods of web", len(left))
	})
	p.UntilReady("web", place.Replicas)
}
