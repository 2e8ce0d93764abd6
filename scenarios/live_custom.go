package scenarios

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// A CustomKind is a kind of objects that the scenario's provider keeps by a
// CustomResourceDefinition, such as Karpenter's NodeClaims.
type CustomKind struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

func kindOf(r timeline.Resource) CustomKind {
	return CustomKind{schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}, r.Kind, r.Namespaced}
}

// CustomKinds returns the kinds whose objects the live run keeps, owners before what they own. Of these a tape of the
// simulation holds NodeClaims and Machines; NodePools and MachineSets are on a real API server alone, where the
// garbage collector removes what has an owner that isn't there.
func (p *LiveSimulation) CustomKinds() []CustomKind {
	switch p.sim.file.Cluster.Provider {
	case spec.ProviderKarpenter:
		return []CustomKind{kindOf(roll.NodePools), kindOf(kube.NodeClaims)}
	case spec.ProviderCAPI:
		return []CustomKind{kindOf(roll.MachineSets), kindOf(kube.Machines)}
	}
	return nil
}

// CustomWritten tells the APIServer of an object of the provider's.
func (p remote) CustomWritten(c kube.Change, old, o *kube.Custom) {
	kind, name := kindOf(o.Resource), types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	if c == kube.Deleted {
		if !old.Terminating() { // else the write that took its last finalizer away lets it go
			p.apiServer.DeleteCustom(kind, name)
		}
		return
	}
	is, err := convert.CustomToAPI(o, p.clock)
	if err != nil {
		p.fail(err)
		return
	}
	if c == kube.Added {
		p.apiServer.WriteCustom(kind, nil, is)
		return
	}
	was, err := convert.CustomToAPI(old, p.clock)
	if err != nil {
		p.fail(err)
		return
	}
	if o.Terminating() && !old.Terminating() {
		p.apiServer.DeleteCustom(kind, name) // which finalizers hold
	}
	if !reflect.DeepEqual(was.Object, is.Object) {
		p.apiServer.WriteCustom(kind, was, is)
	}
}

// CustomSeen takes an event of a watch of one of [LiveSimulation.CustomKinds], of which one thing matters: the deletion
// of such an object. Then its node and its machine go, as they do when the provider itself deletes it.
func (p *LiveSimulation) CustomSeen(t watch.EventType, kind CustomKind, in *unstructured.Unstructured) {
	p.wait()
	o := p.sim.env.API.Custom(kind.Resource, in.GetNamespace(), in.GetName())
	if o == nil || o.Terminating() || in.GetDeletionTimestamp() == nil && t != watch.Deleted {
		return
	}
	switch s := p.sim; {
	case s.karpenter != nil && o.Resource == kube.NodeClaims:
		s.karpenter.Delete(o.Name)
	case s.machines != nil && o.Resource == kube.Machines:
		s.machines.DeleteMachine(o.Name)
	}
}
