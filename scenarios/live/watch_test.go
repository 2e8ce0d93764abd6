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
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// A Node that was deleted and made anew between two looks is two Nodes, though an
// informer calls it an update (client-go's caches go by the name).
func TestSeenMadeAnew(t *testing.T) {
	node := func(uid types.UID) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-0-4", UID: uid}}
	}
	s := newStage(clock.RealClock{})
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
