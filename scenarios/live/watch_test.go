package live

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// A Node that was deleted and created again between two looks is two Nodes, though an
// informer calls it an update (client-go's caches go by the name).
func TestSeenMadeAnew(t *testing.T) {
	node := func(uid types.UID) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-0-4", UID: uid}}
	}
	s := newEventLoop(clock.RealClock{})
	var got []string
	h := seen(s, func() {}, func(e watch.EventType, n *corev1.Node) { got = append(got, string(e)+" "+string(n.UID)) })
	h.OnAdd(node("a"), true)
	h.OnUpdate(node("a"), node("a"))
	h.OnUpdate(node("a"), node("b"))
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ip-10-0-0-4", Obj: node("b")})
	s.close()
	if want := []string{"ADDED a", "MODIFIED a", "DELETED a", "ADDED b", "DELETED b"}; !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.call(ctx, func() {}); err == nil {
		t.Error("a stage that is over takes calls")
	}
}

// watched is a live run that notes the Nodes that it is told of.
type watched struct {
	simulation
	nodes []string
}

func (w *watched) NodeSeen(_ watch.EventType, n *corev1.Node) { w.nodes = append(w.nodes, n.Name) }

// The scenario learns of Nodes of live runs alone: what has the name of one of its
// machines may be somebody else's.
func TestFollowsOwnNodes(t *testing.T) {
	node := func(name, label string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{Label: label}}}
	}
	kube := fake.NewClientset(node("ip-10-0-0-4", "surge"), node("ip-10-0-0-5", ""))
	ks := newKubelets(faked(kube), time.Second, 1, func(err error) { t.Error(err) })
	ks.label = "surge"
	defer ks.close()
	factory := newCaches(faked(kube), &interner{})
	s, p := newEventLoop(clock.RealClock{}), &watched{}
	if err := follow(factory, s, p, ks, func() {}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	factory.Start(ctx)
	cache.WaitForCacheSync(ctx.Done(), factory.nodes.Informer().HasSynced, factory.pods.Informer().HasSynced)
	cancel()
	factory.Wait() // which waits until everything was told to the event loop
	s.close()
	if want := []string{"ip-10-0-0-4"}; !slices.Equal(p.nodes, want) {
		t.Errorf("told of %v, want %v", p.nodes, want)
	}
}
