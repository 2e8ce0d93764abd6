package simcluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios/nodemanager"
	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
	"github.com/nodesim/nodesim/scenarios/nodemanager/nodeclient"
	"github.com/nodesim/nodesim/scenarios/nodemanager/registry"
	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// machines are those of a cloud that has a Node of the cluster for each: one with the annotation by which the cluster gives
// it a kubelet. A machine's ID and its address are the name of its Node, and its agent is well as long as the Node is Ready.
type machines struct {
	kubernetes.Interface
	mu      sync.Mutex
	started int
	refuse  int // starts that are to be refused
}

func (m *machines) StartNode(ctx context.Context, n *api.Node, _ string) (*cloud.StartNodeResult, error) {
	m.mu.Lock()
	if m.refuse > 0 {
		m.refuse--
		m.mu.Unlock()
		return nil, &cloud.NoCapacityError{AZ: "zone-a"}
	}
	m.started++
	name := fmt.Sprintf("machine-%d", m.started)
	m.mu.Unlock()
	room := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("16Gi"), "pods": resource.MustParse("110"), "ephemeral-storage": resource.MustParse("20Gi")}
	_, err := m.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
			Labels: map[string]string{corev1.LabelInstanceTypeStable: n.Spec.InstanceType, "manager": "nodemanager"},
		},
		Spec:   corev1.NodeSpec{Taints: []corev1.Taint{{Key: "nodemanager", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{Capacity: room, Allocatable: room},
	}, metav1.CreateOptions{})
	return &cloud.StartNodeResult{InstanceID: name, AvailabilityZone: "zone-a"}, err
}

func (m *machines) StartSpotNode(ctx context.Context, n *api.Node, metadata string) (*cloud.StartNodeResult, error) {
	return m.StartNode(ctx, n, metadata)
}

func (m *machines) StopInstance(ctx context.Context, id string) error {
	err := m.CoreV1().Nodes().Delete(ctx, id, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (m *machines) WaitForRunning(_ context.Context, n *api.Node) ([]api.NetworkAddress, error) {
	return []api.NetworkAddress{{Type: api.PrivateIP, Address: n.Status.InstanceID}}, nil
}

func (m *machines) GetImageID(context.Context, cloud.BootImageSpec) (string, error) { return "", nil }

func (m *machines) GetClient(addresses []api.NetworkAddress) nodeclient.ItzoClient {
	return agent{m, addresses[0].Address}
}
func (m *machines) DeleteClient([]api.NetworkAddress) {}

type agent struct {
	*machines
	node string
}

func (a agent) Healthcheck(ctx context.Context) error {
	n, err := a.CoreV1().Nodes().Get(ctx, a.node, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return errors.New("the node isn't Ready")
}

func (a agent) GetFile(context.Context, string, int) ([]byte, error) { return nil, nil }

// waiting is a PodLister of the cluster's pods that name the node manager as their scheduler.
type waiting struct{ kubernetes.Interface }

const byNodeManager = "spec.schedulerName=nodemanager"

func (w waiting) pods(ctx context.Context) ([]corev1.Pod, error) {
	list, err := w.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: byNodeManager})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func podOf(p *corev1.Pod) *api.Pod {
	out := &api.Pod{ObjectMeta: api.ObjectMeta{Name: p.Name, CreationTimestamp: p.CreationTimestamp.Time}}
	out.Spec.InstanceType, out.Spec.Spot.Policy, out.Spec.Phase = "m5.large", api.SpotNever, api.PodRunning
	switch {
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil:
		out.Spec.Phase, out.Status.Phase = api.PodTerminated, api.PodTerminated
	case p.Spec.NodeName == "":
		out.Status.Phase = api.PodWaiting
	default:
		out.Status.Phase = api.PodRunning
	}
	return out
}

func (w waiting) ListPods(filter func(*api.Pod) bool) (*api.PodList, error) {
	all, err := w.pods(context.Background())
	list := &api.PodList{}
	for i := range all {
		if p := podOf(&all[i]); filter == nil || filter(p) {
			list.Items = append(list.Items, p)
		}
	}
	return list, err
}

func (w waiting) GetPod(name string) (*api.Pod, error) {
	p, err := w.CoreV1().Pods("default").Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", registry.ErrNotFound, err)
	}
	return podOf(p), nil
}

// dispatch binds pods to the nodes that the dispenser gives them, and gives the nodes of pods that have gone back.
func (w waiting) dispatch(ctx context.Context, d *nodemanager.NodeDispenser, nodes *registry.NodeRegistry) error {
	claimed := map[string]string{} // pod to node
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
		all, err := w.pods(ctx)
		if err != nil {
			return err
		}
		there := map[string]bool{}
		for i := range all {
			p := &all[i]
			there[p.Name] = true
			if p.Spec.NodeName != "" || p.DeletionTimestamp != nil {
				continue
			}
			reply, err := d.RequestNodeContext(ctx, *podOf(p))
			if err != nil || reply.Node == nil {
				continue
			}
			n, err := nodes.GetNode(reply.Node.Name)
			if err != nil {
				return err
			}
			claimed[p.Name] = n.Name
			binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: p.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: n.Status.InstanceID}}
			if err := w.CoreV1().Pods(p.Namespace).Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		for pod, node := range claimed {
			if !there[pod] {
				delete(claimed, pod)
				d.ReturnNode(node, false)
			}
		}
	}
}

// nodemanager's NodeController, with its dispenser, registry and standby pools, and unmodified, works on a simulated cluster
// as on a real one: it keeps two machines ready, gives each pod that waits one of its own, fills the pool up again, replaces
// a machine that falls silent, and stops those that pods have used.
func TestNodeManagerOnACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{}, spec.Group{Name: "workers", Nodes: 1}))
		c.Start()
		k := clients(t, c)
		m, pods := &machines{Interface: k, refuse: 1}, waiting{k}
		system := events.NewEventSystem(clock.RealClock{})
		nodes := registry.NewNodeRegistry(clock.RealClock{}, system)
		keeper := cloud.NewKeeper(clock.RealClock{})
		manager := &nodemanager.NodeController{
			NodeRegistry: nodes, PodReader: pods, NodeDispenser: nodemanager.NewNodeDispenser(), Events: system, CloudStatus: keeper,
			NodeScaler:  nodemanager.NewBindingNodeScaler(nodes, []nodemanager.StandbyNodeSpec{{InstanceType: "m5.large", Count: 2}}, keeper, "", false),
			CloudClient: m, NodeClientFactory: m,
		}
		quit := make(chan struct{})
		var wg sync.WaitGroup
		manager.Start(quit, &wg)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- pods.dispatch(ctx, manager.NodeDispenser, nodes) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			close(quit)
			wg.Wait()
		}()
		inPhase := func(phase api.NodePhase) (names []string) {
			list, err := nodes.ListNodes(func(n *api.Node) bool { return n.Status.Phase == phase })
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range list.Items {
				names = append(names, n.Status.InstanceID)
			}
			return names
		}
		c.Eventually(5*time.Minute, "the pool to be full, though the cloud refused a start", func() bool { return len(inPhase(api.NodeAvailable)) == 2 })
		pool := inPhase(api.NodeAvailable)

		for i := range 3 {
			p := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("job-%d", i)},
				Spec: corev1.PodSpec{
					SchedulerName: "nodemanager", Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
					Containers: []corev1.Container{{Name: "a", Image: "registry.example/a:1"}},
				},
			}
			if _, err := k.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		running := func() (on []string) {
			list, err := pods.pods(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i := range list {
				if list[i].Status.Phase == corev1.PodRunning {
					on = append(on, list[i].Spec.NodeName)
				}
			}
			slices.Sort(on)
			return on
		}
		c.Eventually(5*time.Minute, "each pod to have a machine of its own, and the pool to be full", func() bool {
			return len(slices.Compact(running())) == 3 && len(inPhase(api.NodeAvailable)) == 2
		})
		for _, machine := range pool {
			if !slices.Contains(running(), machine) {
				t.Errorf("pods run on %v, want the pool's %v among them", running(), pool)
			}
		}

		silent := inPhase(api.NodeAvailable)[0]
		if err := k.CoreV1().Nodes().Delete(t.Context(), silent, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(10*time.Minute, "the silent machine to be replaced", func() bool {
			pool := inPhase(api.NodeAvailable)
			return len(pool) == 2 && !slices.Contains(pool, silent)
		})

		used := running()
		if err := k.CoreV1().Pods("default").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: byNodeManager}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(10*time.Minute, "the used machines to be stopped, and the pool's alone to be there", func() bool {
			for _, n := range nodesOf(t, k) {
				if slices.Contains(used, n.Name) {
					return false
				}
			}
			return len(readyNodes(t, k)) == 1+2
		})
		sound(t, c)
	})
}
