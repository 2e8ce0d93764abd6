//go:build controlplane

package live_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
)

// A runningScenario is a live run under way, past its 0s.
type runningScenario struct {
	t    *testing.T
	end  context.CancelFunc
	done chan struct{}

	report live.Report
	err    error
}

// raise starts a live run, whose tape is checked at the end, and waits until it begins.
func raise(ctx context.Context, t *testing.T, config *rest.Config, f *scenarios.File, opts ...live.Option) *runningScenario {
	t.Helper()
	check(t, config)
	began := make(chan struct{})
	opts = append([]live.Option{
		live.Speed(20),
		live.OnWarning(func(err error) { t.Logf("%s %.300s", time.Now().Format("05.000"), err) }),
		live.BeforeBegin(func(context.Context) error { close(began); return nil }),
	}, opts...)
	p, err := live.New(config, f, opts...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(ctx)
	s := &runningScenario{t: t, end: end, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.report, s.err = p.Run(ctx)
	}()
	t.Cleanup(func() { end(); <-s.done })
	select {
	case <-began:
	case <-s.done:
		t.Fatal(s.err)
	}
	return s
}

// wait returns when it has ended by itself, cleanly.
func (s *runningScenario) wait() live.Report {
	s.t.Helper()
	<-s.done
	if s.err != nil {
		s.t.Fatal(s.err)
	}
	s.t.Logf("%s", s.report)
	return s.report
}

// complete wants a roll that has ended well.
func (s *runningScenario) complete() {
	s.t.Helper()
	if r := s.wait(); !slices.Equal(r.Outcomes, []string{""}) {
		s.t.Errorf("outcomes %q: want one that is complete", r.Outcomes)
	}
}

// written is the scenario of a text.
func written(t *testing.T, text string) *scenarios.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := simulate.Find(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := simulate.Resolve(s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return src.File
}

// A census is who is in a cluster: nodes, and Deployments' pods that run, by their names.
type census struct {
	nodes map[string]corev1.Node
	pods  map[string]types.UID
	on    map[string]string // pods' nodes
}

func standing(ctx context.Context, t *testing.T, c kubernetes.Interface) census {
	t.Helper()
	// Pods first: by the time that one is gone, its node was cordoned.
	pods, err := c.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := census{map[string]corev1.Node{}, map[string]types.UID{}, map[string]string{}}
	for _, n := range nodes.Items {
		all.nodes[n.Name] = n
	}
	for _, p := range pods.Items {
		if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			all.pods[p.Name], all.on[p.Name] = p.UID, p.Spec.NodeName
		}
	}
	return all
}

// survive wants all of them to be there still, but for nodes that the roll has replaced meanwhile, however far it has come, and the pods of
// nodes that are being drained. A new node joins before one of before's is drained.
func (before census) survive(ctx context.Context, t *testing.T, c kubernetes.Interface) {
	t.Helper()
	old := ""
	for _, n := range before.nodes {
		if n.Spec.Unschedulable {
			old = n.Labels[noderoll.LabelImage]
		}
	}
	now := standing(ctx, t, c)
	gone, joined := 0, 0
	for name, was := range before.nodes {
		switch is, there := now.nodes[name]; {
		case there && is.UID != was.UID:
			t.Errorf("node %s is another one", name)
		case !there && was.Labels[noderoll.LabelImage] != old:
			t.Errorf("node %s, which nobody replaces, is gone", name)
		case !there:
			gone++
		}
	}
	for _, n := range now.nodes {
		if n.Labels[noderoll.LabelImage] != old {
			joined++
		}
	}
	if old == "" || gone > joined {
		t.Errorf("%d nodes of the image %q are gone, and %d of another one are there: want as many at least", gone, old, joined)
	}
	for name, uid := range before.pods {
		if on, there := now.nodes[before.on[name]]; there && !on.Spec.Unschedulable && now.pods[name] != uid {
			t.Errorf("pod %s on %s, which nobody drains, is gone", name, on.Name)
		}
	}
}

// drainedNode is a node that is cordoned and has no pods of shop: a roll is in its
// middle, and no eviction is under way. One that is cut off would hold its budget
// for two minutes, whatever the speed (DeletionTimeout of the disruption controller).
func drainedNode(ctx context.Context, c kubernetes.Interface) (string, error) {
	nodes, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	pods, err := c.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, n := range nodes.Items {
		busy := slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Spec.NodeName == n.Name })
		if n.Spec.Unschedulable && !busy {
			return n.Name, nil
		}
	}
	return "", nil
}
