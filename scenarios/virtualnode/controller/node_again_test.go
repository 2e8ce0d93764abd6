package controller

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// A node that somebody deleted comes again, with the spec that was given and what the provider has said since.
func TestDeletedNodeComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		c := f.controller(t, readyNode(), f.leases())
		running(t.Context(), t, c)
		synctest.Wait()
		first := f.node()
		if first.Spec.ProviderID == "" || first.UID != c.UID() || f.lease().OwnerReferences[0].UID != first.UID {
			t.Fatalf("found node %+v with lease %+v, want the given one as owner of its lease", first, f.lease())
		}
		newer := readyNode()
		newer.Labels["zone"], newer.Spec = "b", corev1.NodeSpec{}
		f.say(t, newer)

		f.remove("nodes/virtual")
		pass(DefaultStatusUpdateInterval)
		again := f.node()
		if again == nil || again.UID == first.UID {
			t.Fatalf("found node %+v, want another one", again)
		}
		if again.Spec.ProviderID == "" || len(again.Spec.Taints) != 1 || again.Labels["zone"] != "b" {
			t.Errorf("found spec %+v and labels %v, want the given spec and the newest labels", again.Spec, again.Labels)
		}
		if owners := f.lease().OwnerReferences; len(owners) != 1 || owners[0].UID != again.UID || c.UID() != again.UID {
			t.Errorf("found owners %+v, want the new node alone", owners)
		}
	})
}

// The owner of a shared informer needn't wait for the next interval.
func TestReconcile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		c := f.controller(t, readyNode(), f.leases())
		c.Reconcile() // before Ready it does nothing
		running(t.Context(), t, c)
		f.remove("nodes/virtual")
		c.Reconcile()
		synctest.Wait()
		if f.node() == nil {
			t.Error("the node did not come again")
		}
	})
}

// A lease that the garbage collector took with its node leads to the node.
func TestLostLeaseLeadsToTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		running(t.Context(), t, f.controller(t, readyNode(), f.leases()))
		synctest.Wait()
		f.remove("nodes/virtual")
		f.remove("leases/virtual")
		pass(11 * time.Second)
		if f.node() == nil || f.lease() == nil || f.lease().OwnerReferences[0].UID != f.node().UID {
			t.Errorf("found node %v with lease %v, want both again", f.node(), f.lease())
		}
	})
}

// A node that somebody else made meanwhile is adopted as it is.
func TestForeignNodeIsAdopted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		c := f.controller(t, readyNode(), f.leases())
		running(t.Context(), t, c)
		synctest.Wait()
		foreign := node("virtual")
		foreign.UID, foreign.Spec.Unschedulable = "theirs", true
		foreign.Annotations = map[string]string{"theirs": "stays"}
		f.remove("nodes/virtual")
		f.add("nodes/virtual", foreign)
		pass(DefaultStatusUpdateInterval)
		got := f.node()
		if got.UID != "theirs" || !got.Spec.Unschedulable || got.Annotations["theirs"] == "" || got.Labels["zone"] != "a" {
			t.Errorf("found %+v, want their node with our labels", got)
		}
		if owners := f.lease().OwnerReferences; len(owners) != 1 || owners[0].UID != "theirs" || c.UID() != "theirs" {
			t.Errorf("found owners %+v, want their node", owners)
		}
		if f.requests("POST nodes") != 1 {
			t.Errorf("found %d creations, want the first one alone", f.requests("POST nodes"))
		}
	})
}

// With a lister, an update of the status costs no GET, and an old cache does no harm.
func TestLister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		c := f.controller(t, readyNode(), f.leases(), WithNodeLister(corelisters.NewNodeLister(index)))
		running(t.Context(), t, c)
		synctest.Wait()
		if got := f.requests("GET nodes/virtual"); got != 0 {
			t.Errorf("start: found %d GETs of a node that the cache doesn't hold, want 0", got)
		}
		old := f.node()
		catchUp := func() {
			if err := index.Update(f.node()); err != nil {
				t.Fatal(err)
			}
		}
		catchUp()
		for range 5 {
			pass(DefaultStatusUpdateInterval)
			catchUp()
		}
		if gets, patches := f.requests("GET nodes/virtual"), f.requests("PATCH nodes/virtual/status"); gets != 0 || patches != 5 {
			t.Errorf("found %d GETs and %d PATCHes in five minutes, want 0 and 5", gets, patches)
		}

		f.remove("nodes/virtual") // the cache doesn't know yet
		pass(DefaultStatusUpdateInterval)
		if f.node() == nil || f.node().UID == old.UID {
			t.Fatalf("found %+v, want another node", f.node())
		}
		catchUp()
		again := f.node()
		if err := index.Delete(again); err != nil {
			t.Fatal(err)
		}
		f.remove("nodes/virtual") // now the cache knows, and the next renewal of the lease sees it
		pass(11 * time.Second)
		if f.node() == nil || f.node().UID == again.UID {
			t.Errorf("found %+v 11 s after the cache has seen the deletion, want another node", f.node())
		}
	})
}

// A cache need not hold what was applied last: that is asked for where something is written, and nowhere else.
func TestListerWithoutWhatWasApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		running(t.Context(), t, f.controller(t, readyNode(), f.leases(), WithNodeLister(corelisters.NewNodeLister(index)),
			WithNodeStatusReportInterval(time.Hour)))
		synctest.Wait()
		catchUp := func() {
			lean := f.node().DeepCopy()
			LeaveOutApplied(lean)
			if lean.Annotations[annotationStatus] != "" || lean.Annotations[annotationMeta] != "" {
				t.Fatalf("found %v, want no texts", lean.Annotations)
			}
			if err := index.Update(lean); err != nil {
				t.Fatal(err)
			}
		}
		want := func(when string, gets, writes int) {
			t.Helper()
			if g, w := f.requests("GET nodes/virtual"), f.requests(patches); g != gets || w != writes {
				t.Errorf("%s: found %d GETs and %d PATCHes, want %d and %d", when, g, w, gets, writes)
			}
		}
		catchUp()
		for range 5 {
			pass(DefaultStatusUpdateInterval)
		}
		want("nothing happens", 0, 0)
		f.edit(func(n *corev1.Node) { n.Labels["theirs"] = "1" })
		catchUp()
		for range 5 {
			pass(DefaultStatusUpdateInterval)
		}
		want("somebody adds a label", 1, 0)

		next := readyNode()
		next.Labels = map[string]string{"other": "b"}
		f.say(t, next)
		want("the provider gives up a label", 2, 1)
		got := f.node()
		if _, is := got.Labels["zone"]; is || got.Labels["theirs"] != "1" || got.Labels["other"] != "b" {
			t.Errorf("found labels %v, want the provider's and those of others", got.Labels)
		}
		if got.Annotations[annotationStatus] == "" || got.Annotations[annotationMeta] == "" {
			t.Errorf("found annotations %v, want what was applied in them", got.Annotations)
		}
	})
}
