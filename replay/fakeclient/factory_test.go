package fakeclient

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// The factory starts the informers that somebody asked for, and no others.
func TestFactoryStartsWhatWasAskedFor(t *testing.T) {
	f := ForTest(t, replay.Events(header(), roll()))
	nodes := f.Informers.Core().V1().Nodes().Lister()
	f.Start()
	if n := len(f.Client.tracked); n != 1 {
		t.Errorf("%d informers are tracked, want that of nodes alone", n)
	}
	if got := f.Informers.WaitForCacheSync(t.Context().Done()); len(got) != 1 {
		t.Errorf("started %v, want the informer of nodes alone", got)
	}
	if _, err := nodes.Get("a"); err != nil {
		t.Error(err)
	}

	// One that is asked for later is started by the next Start, as with any factory.
	late, err := f.Informers.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	if err != nil {
		t.Fatal(err)
	}
	f.Start()
	if _, err := late.Lister().ByNamespace("default").Get("p"); err != nil {
		t.Error(err)
	}
	if late.Informer().GetStore() != f.Informers.Core().V1().Pods().Informer().GetStore() {
		t.Error("ForResource and Pods() give two informers")
	}
}

// withoutTracked are the factory's groups none of whose versions is served by default by all supported servers.
var withoutTracked = []string{"Extensions", "Internal", "Lifecycle", "Storagemigration"}

// Whatever way leads to an informer of a group that the factory knows, it is a
// tracked one. Resources of other groups get theirs when the factory is made.
func TestInformersOfAllGroupsAreTracked(t *testing.T) {
	f := ForTest(t, replay.Events(header(), roll()))
	factory, api := reflect.ValueOf(f.Informers), reflect.TypeFor[informers.SharedInformerFactory]()
	tracked := 0
	var untracked []string
	for i := range api.NumMethod() {
		name := api.Method(i).Name
		m := factory.MethodByName(name)
		if m.Type().NumIn() > 0 || m.Type().NumOut() != 1 || m.Type().Out(0).Name() != "Interface" {
			continue // not a group
		}
		group := m.Call(nil)[0]
		for v := range group.NumMethod() {
			version := group.Method(v).Call(nil)[0]
			for r := range version.NumMethod() {
				before := len(f.Client.tracked)
				version.Method(r).Call(nil)[0].MethodByName("Informer").Call(nil)
				if made := len(f.Client.tracked) - before; made > 0 {
					tracked += made
				} else if !slices.Contains(untracked, name) {
					untracked = append(untracked, name)
				}
			}
		}
	}
	for _, name := range untracked {
		if !slices.Contains(withoutTracked, name) {
			t.Errorf("group %s: found no tracked informer: want all of its", name)
		}
	}
	if tracked < 50 {
		t.Errorf("%d informers are tracked: want those of all resources", tracked)
	}
}

// A resource of a group that the factory doesn't know by name is tracked too.
func TestInformersOfOtherGroupsAreMadeAtOnce(t *testing.T) {
	h := header()
	h.Resources = append(h.Resources, timeline.Resource{Group: "internal.apiserver.k8s.io", Version: "v1alpha1", Kind: "StorageVersion", Resource: "storageversions"})
	f := ForTest(t, replay.Events(h, roll()))
	if n := len(f.Client.tracked); n != 1 {
		t.Errorf("%d informers are tracked, want that of storageversions", n)
	}
	before := f.Client.tracked[0].informer.GetStore()
	if f.Informers.Internal().V1alpha1().StorageVersions().Informer().GetStore() != before {
		t.Error("the factory hands out another informer than the one that is tracked")
	}
}

// Code under test may run an informer by itself that the factory starts too.
func TestAnInformerThatRunsTwice(t *testing.T) {
	f := ForTest(t, replay.Events(header(), roll()))
	nodes := f.Informers.Core().V1().Nodes().Informer()
	f.Informers.Core().V1().Pods().Informer()
	ctx, cancel := context.WithCancel(t.Context())
	var own sync.WaitGroup
	own.Go(func() { nodes.RunWithContext(ctx) })
	f.Play()
	if n := len(nodes.GetStore().List()); n != 2 {
		t.Errorf("found %d nodes, want b and c", n)
	}
	cancel()
	own.Wait()
}
