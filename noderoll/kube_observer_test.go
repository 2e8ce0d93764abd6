package noderoll_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"

	"github.com/nodesim/nodesim/noderoll"
)

// rollOf plays one step of a roll after another and asks for what is seen.
func rollOf(t *testing.T, c *fake.Clientset, see func(step string, want [4]int) noderoll.Snapshot) {
	s := see("three old nodes and a foreign one", [4]int{3, 0, 0, 0})
	for _, v := range s.Nodes {
		if v.OnTarget || v.Phase != ready {
			t.Errorf("%s: on target %v, phase %s, want an old Ready node", v.Name, v.OnTarget, v.Phase)
		}
	}
	create(t, c, kubeNode("ip-4", newImage, false))
	update(t, c, cordoned(kubeNode("ip-1", oldImage, true)))
	see("a new one joins, an old one is cordoned", [4]int{4, 0, 1, 1})

	update(t, c, kubeNode("ip-4", newImage, true))
	deleteNode(t, c, "ip-1")
	s = see("the new one is ready, the old one gone", [4]int{3, 1, 0, 0})
	if last := s.Nodes[2]; last.Name != "ip-4" || !last.OnTarget || last.Phase != ready || last.UID != "uid-ip-4" || last.Image != newImage {
		t.Errorf("last node %+v, want ip-4, on target and Ready", last)
	}
}

func startOfRoll() []runtime.Object {
	foreign := kubeNode("ip-9", newImage, true)
	foreign.Labels[noderoll.LabelNodegroup] = "others"
	return []runtime.Object{kubeNode("ip-3", oldImage, true), kubeNode("ip-1", oldImage, true), kubeNode("ip-2", oldImage, true), foreign}
}

func TestKubeObserverRollByList(t *testing.T) {
	c := fake.NewSimpleClientset(startOfRoll()...)
	o := noderoll.NewKubeObserver(c, group, newImage)
	rollOf(t, c, func(step string, want [4]int) noderoll.Snapshot {
		s := look(t, o)
		if counts(s) != want {
			t.Fatalf("%s: got %s, want %v", step, brief(s), want)
		}
		return s
	})
}

func TestKubeObserverCountsEvictions(t *testing.T) {
	c := fake.NewSimpleClientset(append(podsOfEveryKind(), cordoned(kubeNode("ip-1", oldImage, true)), kubeNode("ip-2", oldImage, true))...)
	o := noderoll.NewKubeObserver(c, group, newImage)
	if got := brief(look(t, o)); !strings.Contains(got, "ip-1=Draining,3/3 ip-2=Ready,0/0") {
		t.Errorf("got %s, want 3/3 on ip-1 and no count on ip-2", got)
	}
	deletePod(t, c, "web-2")
	if got := brief(look(t, o)); !strings.Contains(got, "ip-1=Draining,2/3") {
		t.Errorf("got %s, want 2/3", got)
	}
}

func TestDrainTotalsStartAnew(t *testing.T) {
	c := fake.NewSimpleClientset(append(podsOfEveryKind(), cordoned(kubeNode("ip-1", oldImage, true)))...)
	o := noderoll.NewKubeObserver(c, group, newImage)
	expect := func(step, want string) {
		t.Helper()
		if got := brief(look(t, o)); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", step, got, want)
		}
	}
	expect("first drain", "ip-1=Draining,3/3")
	deletePod(t, c, "web-1")
	update(t, c, kubeNode("ip-1", oldImage, true))
	expect("uncordoned", "ip-1=Ready,0/0")
	update(t, c, cordoned(kubeNode("ip-1", oldImage, true)))
	expect("second drain", "ip-1=Draining,2/2")

	deletePod(t, c, "web-2")
	another := cordoned(kubeNode("ip-1", oldImage, true))
	another.UID = "another"
	update(t, c, another)
	expect("another node of that name", "ip-1=Draining,1/1")

	for _, name := range []string{"late-1", "late-2"} {
		if _, err := c.CoreV1().Pods("shop").Create(t.Context(), kubePod(name, "ip-1"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	expect("more pods than at the start", "ip-1=Draining,3/3")
}

func TestNotReadyIsNotJoining(t *testing.T) {
	c := fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true), kubeNode("ip-2", newImage, false))
	o := noderoll.NewKubeObserver(c, group, newImage)
	look(t, o)
	update(t, c, kubeNode("ip-1", oldImage, false))
	s := look(t, o)
	if s.Nodes[0].Phase != notReady || s.Nodes[1].Phase != joining || s.NotReady != 1 || s.Joining != 1 {
		t.Errorf("got %s, want ip-1 NotReady, ip-2 Joining", brief(s))
	}
	reborn := kubeNode("ip-1", newImage, false)
	reborn.UID = "another"
	update(t, c, reborn)
	if s := look(t, o); s.Nodes[0].Phase != joining {
		t.Errorf("another node of the name: got %s, want Joining", s.Nodes[0].Phase)
	}
}

func TestEmptyTargetMatchesNothing(t *testing.T) {
	bare := kubeNode("ip-1", "", true)
	delete(bare.Labels, noderoll.LabelImage)
	o := noderoll.NewKubeObserver(fake.NewSimpleClientset(bare, kubeNode("ip-2", "", true)), group, "")
	if s := look(t, o); s.ReadyTarget != 0 || s.OffTarget != 2 {
		t.Errorf("%d on target, %d off, want 0, 2", s.ReadyTarget, s.OffTarget)
	}
}

func TestBaselineGoesByUID(t *testing.T) {
	c := fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true), kubeNode("ip-2", oldImage, true))
	o := noderoll.NewKubeObserver(c, group, oldImage) // the image is ignored then
	if err := o.CaptureBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := look(t, o); s.OffTarget != 2 {
		t.Errorf("%d off target, want both", s.OffTarget)
	}
	reimaged := kubeNode("ip-1", oldImage, true)
	reimaged.UID = "another"
	update(t, c, reimaged)
	if s := look(t, o); !s.Nodes[0].OnTarget || s.Nodes[1].OnTarget {
		t.Errorf("on target: %v, %v; want the reimaged one only", s.Nodes[0].OnTarget, s.Nodes[1].OnTarget)
	}
}

func TestEmptyBaselineMakesAllNodesNew(t *testing.T) {
	c := fake.NewSimpleClientset()
	o := noderoll.NewKubeObserver(c, group, newImage)
	if err := o.CaptureBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	create(t, c, kubeNode("ip-1", oldImage, true))
	if s := look(t, o); s.ReadyTarget != 1 {
		t.Errorf("%d on target, want 1", s.ReadyTarget)
	}
}

func TestFailedCaptureKeepsTheBaseline(t *testing.T) {
	c := fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true))
	o := noderoll.NewKubeObserver(c, group, "")
	if err := o.CaptureBaseline(t.Context()); err != nil {
		t.Fatal(err)
	}
	create(t, c, kubeNode("ip-2", oldImage, true))
	broken := true
	refuse(c, "nodes", func() bool { return broken })
	if err := o.CaptureBaseline(t.Context()); err == nil {
		t.Fatal("no error from a failed list")
	}
	broken = false
	if s := look(t, o); s.Nodes[0].OnTarget || !s.Nodes[1].OnTarget {
		t.Errorf("on target: %v, %v; want false, true as before", s.Nodes[0].OnTarget, s.Nodes[1].OnTarget)
	}
}

var errRefused = errors.New("refused by the test")

// refuse makes lists of a resource fail while the condition holds.
func refuse(c *fake.Clientset, resource string, when func() bool) {
	c.PrependReactor("list", resource, func(ktesting.Action) (bool, runtime.Object, error) {
		return when(), nil, errRefused
	})
}

func TestNodeListErrorIsReturned(t *testing.T) {
	c := fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true))
	refuse(c, "nodes", func() bool { return true })
	s, err := noderoll.NewKubeObserver(c, group, newImage).Snapshot(t.Context())
	if !errors.Is(err, errRefused) || s.Total != 0 || s.Nodes != nil {
		t.Errorf("got %+v, %v; want an empty Snapshot and the error", s, err)
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	c := fake.NewSimpleClientset(append(podsOfEveryKind(), cordoned(kubeNode("ip-1", oldImage, true)), kubeNode("ip-2", oldImage, true))...)
	broken := true
	refuse(c, "pods", func() bool { return broken })
	refuse(c, "events", func() bool { return broken })
	o := noderoll.NewKubeObserver(c, group, newImage)
	s := look(t, o)
	if !s.Nodes[0].PodsUnknown || s.Nodes[1].PodsUnknown || !strings.Contains(s.PodsError, "refused by the test") {
		t.Errorf("pods unknown: %v, %v, error %q; want the draining node's, with the reason", s.Nodes[0].PodsUnknown, s.Nodes[1].PodsUnknown, s.PodsError)
	}
	if !strings.Contains(s.WarningsError, "refused by the test") {
		t.Errorf("warnings error %q, want the reason", s.WarningsError)
	}
	broken = false
	if s := look(t, o); s.Nodes[0].PodsUnknown || s.PodsError != "" || s.WarningsError != "" || s.Nodes[0].Pods != 3 {
		t.Errorf("after recovery: got %s, %q, %q; want all known", brief(s), s.PodsError, s.WarningsError)
	}
}

// A list of pods that fails is no evidence that they were evicted.
func TestAFailedListIsNoDrain(t *testing.T) {
	c := fake.NewSimpleClientset(append(podsOfEveryKind(), cordoned(kubeNode("ip-1", oldImage, true)), kubeNode("ip-2", oldImage, true))...)
	broken := false
	refuse(c, "pods", func() bool { return broken })
	o := noderoll.NewKubeObserver(c, group, newImage)
	for i := range 3 {
		broken = i == 1
		if s := look(t, o); !s.Nodes[0].Cordoned {
			t.Errorf("look %d: got %s, want ip-1 cordoned and no drain", i, brief(s))
		}
	}
}

func TestPodsAreAskedForByNode(t *testing.T) {
	c := fake.NewSimpleClientset(append(podsOfEveryKind(), cordoned(kubeNode("ip-1", oldImage, true)), kubeNode("ip-2", oldImage, true))...)
	look(t, noderoll.NewKubeObserver(c, group, newImage))
	var asked []string
	for _, a := range c.Actions() {
		if a.Matches("list", "pods") {
			asked = append(asked, a.(ktesting.ListAction).GetListRestrictions().Fields.String())
		}
	}
	if diff := cmp.Diff([]string{"spec.nodeName=ip-1"}, asked); diff != "" {
		t.Errorf("pod lists (-want +got):\n%s", diff)
	}
}

// A server that pages its lists, and forgets the second page once.
func TestListsAreReadToTheEnd(t *testing.T) {
	c := fake.NewSimpleClientset()
	pages := map[string]*corev1.NodeList{
		"":  {ListMeta: metav1.ListMeta{Continue: "2"}, Items: []corev1.Node{*kubeNode("ip-1", oldImage, true)}},
		"2": {Items: []corev1.Node{*kubeNode("ip-2", oldImage, true)}},
	}
	expired := 0
	c.PrependReactor("list", "nodes", func(a ktesting.Action) (bool, runtime.Object, error) {
		opts := a.(ktesting.ListActionImpl).ListOptions
		switch {
		case opts.Limit == 0:
			return true, &corev1.NodeList{Items: append(pages[""].Items, pages["2"].Items...)}, nil
		case opts.Continue == "2" && expired == 0:
			expired++
			return true, nil, apierrors.NewResourceExpired("the page is too old")
		}
		return true, pages[opts.Continue], nil
	})
	o := noderoll.NewKubeObserverWithOptions(c, noderoll.KubeOptions{PageSize: 1})
	for _, what := range []string{"forgotten page", "two pages"} {
		if s := look(t, o); s.Total != 2 {
			t.Errorf("%s: %d nodes, want 2", what, s.Total)
		}
	}
	if expired != 1 {
		t.Errorf("%d pages expired, want 1", expired)
	}
}

func TestInvalidGroupNameIsRefused(t *testing.T) {
	c := fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true))
	o := noderoll.NewKubeObserver(c, "workers,evil=1", newImage)
	if _, err := o.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), `"workers,evil=1"`) {
		t.Errorf("got error %v, want one that names the group", err)
	}
	if err := o.StartInformers(t.Context()); err == nil {
		t.Error("informers start for an invalid group")
	}
	if n := len(c.Actions()); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

func TestNoClientIsAnError(t *testing.T) {
	o := noderoll.NewKubeObserver(kubernetes.Interface(nil), group, newImage)
	if _, err := o.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "no client") {
		t.Errorf("Snapshot: got error %v", err)
	}
	if o.StartInformers(t.Context()) == nil || o.CaptureBaseline(t.Context()) == nil {
		t.Error("informers or baseline without a client: want errors")
	}
	o.StopInformers()
}

func TestEmptyGroupNameIsNobodys(t *testing.T) {
	o := noderoll.NewKubeObserver(fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true)), "", newImage)
	if s := look(t, o); s.Total != 0 {
		t.Errorf("%d nodes, want none", s.Total)
	}
}

func TestOptionsChooseOtherGroups(t *testing.T) {
	gke := kubeNode("gke-1", "", true)
	gke.Labels = map[string]string{"cloud.google.com/gke-nodepool": "pool-1"}
	gke.Status.NodeInfo.KubeletVersion = "v1.30.1-gke.1329000"
	gke.Spec.Taints = []corev1.Taint{{Key: "example.com/leaving"}}
	o := noderoll.NewKubeObserverWithOptions(fake.NewSimpleClientset(gke, kubeNode("ip-1", oldImage, true)), noderoll.KubeOptions{
		StateOptions: noderoll.StateOptions{
			Pool:          "pool-1",
			Target:        noderoll.Target{Image: "v1.30.1-gke.1329000"},
			RemovalTaints: []string{"example.com/leaving"},
		},
	})
	s := look(t, o)
	if s.Total != 1 || !s.Nodes[0].OnTarget || s.Nodes[0].Phase != draining {
		t.Errorf("got %s, want one node, on target, draining", brief(s))
	}
}

func TestAutoTargetLive(t *testing.T) {
	c := fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true))
	o := noderoll.NewKubeObserverWithOptions(c, noderoll.KubeOptions{StateOptions: noderoll.StateOptions{Target: noderoll.Target{Auto: true}}})
	if s := look(t, o); s.OffTarget != 1 {
		t.Errorf("%d off target, want 1", s.OffTarget)
	}
	create(t, c, kubeNode("ip-2", newImage, true))
	create(t, c, kubeNode("ip-3", oldImage, true)) // scaled up from the old template
	if s := look(t, o); s.Nodes[0].OnTarget || !s.Nodes[1].OnTarget || s.Nodes[2].OnTarget {
		t.Errorf("on target: %v, want ip-2 only", s.Nodes)
	}
	deleteNode(t, c, "ip-1")
	deleteNode(t, c, "ip-3")
	if s := look(t, o); !s.Complete() {
		t.Errorf("not complete: %s", brief(s))
	}
}

func TestCancelledContext(t *testing.T) {
	c := fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := noderoll.NewKubeObserver(c, group, newImage).Snapshot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that of the context", err)
	}
}

// Fails under -race, and by its counts, if the observer's memory isn't guarded.
func TestObserverFromSeveralGoroutines(t *testing.T) {
	c := fake.NewSimpleClientset(append(podsOfEveryKind(), cordoned(kubeNode("ip-1", oldImage, true)), kubeNode("ip-2", oldImage, true))...)
	o := noderoll.NewKubeObserver(c, group, newImage)
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for range 5 {
				switch g {
				case 0:
					if err := o.CaptureBaseline(t.Context()); err != nil {
						t.Error(err)
					}
				case 1:
					if err := o.StartInformers(t.Context()); err != nil && !strings.Contains(err.Error(), "stopped") {
						t.Error(err)
					}
				case 2:
					o.StopInformers()
				default:
					if s, err := o.Snapshot(t.Context()); err != nil || s.Total != 2 || s.Nodes[0].Pods != 3 {
						t.Errorf("got %s, %v; want two nodes and three pods", brief(s), err)
					}
				}
			}
		})
	}
	wg.Wait()
	o.StopInformers()
}

// What holds a drain up is known where budgets are read, by lists and by watches,
// and a refusal is told.
func TestKubeObserverReadsBudgets(t *testing.T) {
	for _, watches := range []bool{false, true} {
		web := &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		}
		pod := kubePod("web-1", "ip-1")
		pod.Labels = map[string]string{"app": "web"}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		c := fake.NewSimpleClientset(pod, web, cordoned(kubeNode("ip-1", oldImage, true)))
		budgets := c.PolicyV1().PodDisruptionBudgets("")
		o := noderoll.NewKubeObserverWithOptions(c, noderoll.KubeOptions{Budgets: budgets})
		if watched := watching(c); watches {
			if err := o.StartInformers(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer o.StopInformers()
			watched(t)
		}
		eventually(t, o, "a budget at zero", func(s noderoll.Snapshot) bool { return s.Nodes[0].HeldBy == "shop/web" && s.Nodes[0].Cordoned })
		web.Status.DisruptionsAllowed = 1
		if _, err := c.PolicyV1().PodDisruptionBudgets("shop").Update(t.Context(), web, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, o, "a budget that allows one", func(s noderoll.Snapshot) bool { return s.Nodes[0].HeldBy == "" })
		if watches {
			continue
		}
		c.PrependReactor("list", "poddisruptionbudgets", func(ktesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("refused by the test")
		})
		if s := look(t, o); !strings.Contains(s.BudgetsError, "list poddisruptionbudgets: refused by the test") || s.PodsError != "" {
			t.Errorf("budgets error %q, pods error %q, want the first alone", s.BudgetsError, s.PodsError)
		}
	}
}
