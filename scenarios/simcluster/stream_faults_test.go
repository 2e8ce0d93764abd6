package simcluster_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"

	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/scenarios/simcluster"
)

// What goes wrong between a cluster that takes writes and its clients goes wrong with what clients bring about as well.
// An informer has the cluster's own state in the end, whatever it has missed on the way, but for events that never come.
func TestFaultsOfStreams(t *testing.T) {
	for _, spec := range []string{
		"drop:pods,type=DELETED", "delay:pods", "duplicate:pods", "coalesce:pods", "reorder:pods", "slow:pods", "bookmarks:pods",
		"close:pods,at=T+2s", "gone:pods,at=T+2s", "stall:pods,at=T+2s,for=30s", "stale:pods", "unobserved:pods", "intermediate:pods", "stale-list:pods,by=1m",
	} {
		t.Run(spec, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var fired atomic.Int64
				c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")), fault.InjectAndLog(func(fault.Fired) { fired.Add(1) }, spec))
				c.Start()
				k := clients(t, c)
				inf := informers.NewSharedInformerFactory(k, 0)
				seen := inf.Core().V1().Pods().Lister()
				inf.Core().V1().Pods().Informer()
				inf.Start(t.Context().Done())
				inf.WaitForCacheSync(t.Context().Done())
				<-time.After(3 * time.Second)
				gone, killed := podsOn(t, k, "", true)[0], podsOn(t, k, "", true)[1]
				if err := k.CoreV1().Pods("shop").Delete(t.Context(), gone, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				at := int64(0) // which deletes it at once, by the client's own write
				if err := k.CoreV1().Pods("shop").Delete(t.Context(), killed, metav1.DeleteOptions{GracePeriodSeconds: &at}); err != nil {
					t.Fatal(err)
				}
				<-time.After(5 * time.Minute)
				if _, err := k.CoreV1().Nodes().Patch(t.Context(), firstNode(t, k), types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
					t.Fatal(err)
				}
				<-time.After(5 * time.Minute)
				all, err := seen.List(labels.Everything())
				if err != nil {
					t.Fatal(err)
				}
				has := map[string]string{}
				for _, p := range all {
					has[p.Name] = p.ResourceVersion
				}
				missed := strings.HasPrefix(spec, "drop:")
				for _, name := range []string{gone, killed} {
					if _, is := has[name]; is != missed {
						t.Errorf("the pod %s that was deleted is in the informer's cache: %t, want %t", name, is, missed)
					}
				}
				if !strings.HasPrefix(spec, "stale-list") {
					list, err := k.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
					if err != nil {
						t.Fatal(err)
					}
					for _, p := range list.Items {
						if has[p.Name] != p.ResourceVersion {
							t.Errorf("%s: the informer has version %q, the cluster %s", p.Name, has[p.Name], p.ResourceVersion)
						}
					}
				}
				if fired.Load() == 0 && !strings.HasPrefix(spec, "bookmarks") {
					t.Error("the fault didn't fire")
				}
				sound(t, c)
			})
		})
	}
}

// A request that is refused changes nothing, and the next one is answered.
func TestFaultsOfRequests(t *testing.T) {
	for spec, is := range map[string]func(error) bool{
		"429:nodes,verb=write,count=1,retry-after=1s": apierrors.IsTooManyRequests, "409:nodes,count=1": apierrors.IsConflict,
		"500:nodes,verb=patch,count=1": apierrors.IsInternalError, "timeout:nodes,verb=patch,count=1": apierrors.IsTimeout,
	} {
		t.Run(spec, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")), fault.Inject(spec))
				c.Start()
				k := clients(t, c)
				node := firstNode(t, k)
				cordon := func() (*corev1.Node, error) {
					return k.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
				}
				before := time.Now()
				_, err := cordon()
				if err == nil && time.Since(before) >= time.Second {
					return // client-go has waited as the answer said, and tried again
				}
				if !is(err) {
					t.Fatal(err)
				}
				if n, err := k.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{}); err != nil || n.Spec.Unschedulable {
					t.Error("a write that was refused was done", err)
				}
				if n, err := cordon(); err != nil || !n.Spec.Unschedulable {
					t.Error(err)
				}
			})
		})
	}
}

// A fault that would change the cluster's objects is refused.
func TestAFaultThatRewritesIsRefused(t *testing.T) {
	_, err := simcluster.New(simcluster.Scenario("surge"), fault.Inject("recreate:pods"))
	if err == nil || !strings.Contains(err.Error(), "fault recreate: a cluster that takes writes keeps its own objects") {
		t.Error(err)
	}
}
