package clusterapi

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/test/strangers/place"
)

func TestInASimulatedCluster(t *testing.T) {
	all := definitions(t)
	defer afterBubble()
	place.SimulatedWith(t, 0, func(p *place.Place) { roll(p, all) })
}

// Where the cluster's provider is a simulated Cluster API, that one keeps its own Machines and leaves the others to the one that
// leads.
func TestBesideASimulatedClusterAPI(t *testing.T) {
	all := definitions(t)
	defer afterBubble()
	place.SimulatedOn(t, spec.Cluster{Provider: spec.ProviderCAPI}, 2, func(p *place.Place) { roll(p, all) })
}

// afterBubble takes what testing/synctest says of goroutines that are left in a bubble: those of the caches of applied objects
// of two of Cluster API's controllers sleep for ten hours, and again, as long as the process lives (internal/util/ssa/cache.go
// of its module). The test itself has ended by then.
func afterBubble() {
	v := recover()
	if err, is := v.(error); v != nil && (!is || !strings.Contains(err.Error(), "main bubble goroutine has exited")) {
		panic(v)
	}
}

const (
	namespace = "default"
	name      = "sim"
	replicas  = 3
)

// roll has a MachineDeployment make nodes of a cluster, which may have others, and replace them when its template changes.
func roll(p *place.Place, all []*apiextensionsv1.CustomResourceDefinition) {
	c, err := client.New(p.Config(), client.Options{Scheme: scheme})
	p.Must(err)
	p.Define(c, all)
	others := p.NodeNames()
	p.During(func(ctx context.Context) error { return operate(ctx, p) }, func() {
		create(p, c)
		untilNodes(p, c, others, nil)
		p.Fill()
		first, nodes := p.NodeNames(), p.Kube.CoreV1().Nodes()
		maps.DeleteFunc(first, func(name string, _ bool) bool { return others[name] })
		counted := place.Counts(p, nodes.List, nodes.Watch, metav1.ListOptions{}, func(runtime.Object) bool { return true })
		p.KeepsTheBudget(func() {
			p.Must(c.Create(p.Context(), template(machineTemplateKind, "second")))
			var md clusterv1.MachineDeployment
			p.Must(c.Get(p.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &md))
			before := md.DeepCopy()
			md.Spec.Template.Spec.InfrastructureRef.Name = "second"
			p.Must(c.Patch(p.Context(), &md, client.MergeFrom(before)))
			untilNodes(p, c, others, first)
			p.UntilReady("web", place.Replicas)
			p.UntilReady("agent", replicas+len(others))
		})
		if least, most := counted(); least != replicas+len(others) || most != least+1 {
			p.Errorf("there were %d to %d nodes, want %d and one more for a while", least, most, replicas+len(others))
		}
	})
}

// create creates a Cluster whose control plane is somebody else's, as a managed one is, and its MachineDeployment. What Cluster API's
// webhooks would fill in is there.
func create(p *place.Place, c client.Client) {
	p.Helper()
	text, err := kubeconfig(p.Config())
	p.Must(err)
	labels := map[string]string{clusterv1.ClusterNameLabel: name}
	p.Must(c.Create(p.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: secret.Name(name, secret.Kubeconfig), Labels: labels},
		Type:       clusterv1.ClusterSecretType, Data: map[string][]byte{secret.KubeconfigDataName: text},
	}))
	plane := objectOf(controlPlaneKind)
	plane.SetNamespace(namespace)
	plane.SetName(name)
	p.Must(c.Create(p.Context(), plane))
	before := plane.DeepCopy()
	plane.Object["status"] = map[string]any{"externalManagedControlPlane": true, "initialization": map[string]any{"controlPlaneInitialized": true}}
	p.Must(c.Status().Patch(p.Context(), plane, client.MergeFrom(before)))
	p.Must(c.Create(p.Context(), &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       clusterv1.ClusterSpec{ControlPlaneRef: reference(controlPlaneKind, name), ControlPlaneEndpoint: clusterv1.APIEndpoint{Host: "cluster", Port: 6443}},
	}))
	p.Must(c.Create(p.Context(), template(configTemplateKind, "first")))
	p.Must(c.Create(p.Context(), template(machineTemplateKind, "first")))
	p.Must(c.Create(p.Context(), deployment()))
}

func deployment() *clusterv1.MachineDeployment {
	labels := map[string]string{clusterv1.ClusterNameLabel: name, clusterv1.MachineDeploymentNameLabel: name}
	n, one, none := int32(replicas), intstr.FromInt32(1), intstr.FromInt32(0)
	md := &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: name}}}
	md.Spec.ClusterName, md.Spec.Replicas = name, &n
	md.Spec.Selector.MatchLabels, md.Spec.Template.Labels = labels, labels
	md.Spec.Rollout.Strategy.Type = clusterv1.RollingUpdateMachineDeploymentStrategyType
	md.Spec.Rollout.Strategy.RollingUpdate.MaxSurge, md.Spec.Rollout.Strategy.RollingUpdate.MaxUnavailable = &one, &none
	md.Spec.Template.Spec.ClusterName = name
	md.Spec.Template.Spec.Bootstrap.ConfigRef = reference(configTemplateKind, "first")
	md.Spec.Template.Spec.InfrastructureRef = reference(machineTemplateKind, "first")
	return md
}

func reference(kind schema.GroupVersionKind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: kind.Group, Kind: kind.Kind, Name: name}
}

// template is one of machines or of what they begin with.
func template(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	t := objectOf(kind)
	t.SetNamespace(namespace)
	t.SetName(name)
	t.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{}}}
	return t
}

// untilNodes waits until the MachineDeployment is as it is wanted, with a ready node for each replica and none of the old ones, and
// the others are there as before.
func untilNodes(p *place.Place, c client.Client, others, old map[string]bool) {
	p.Helper()
	p.Eventually(time.Hour, fmt.Sprintf("%d ready nodes of Machines", replicas), func() (bool, string) {
		var md clusterv1.MachineDeployment
		p.Must(c.Get(p.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &md))
		nodes := p.NodeNames()
		ready, left, same := 0, 0, 0
		for node, is := range nodes {
			if _, was := old[node]; was {
				left++
			} else if others[node] {
				same++
			} else if is {
				ready++
			}
		}
		s := md.Status
		done := ready == replicas && left == 0 && same == len(others) && len(nodes) == replicas+same && is(s.Replicas) && is(s.UpToDateReplicas) && is(s.AvailableReplicas)
		return done, fmt.Sprintf("%d ready nodes, %d old ones, %d others, %s", ready, left, same, said(p, c, &md))
	})
}

func is(n *int32) bool { return n != nil && *n == replicas }

// said is what the objects' conditions say that isn't so.
func said(p *place.Place, c client.Client, md *clusterv1.MachineDeployment) string {
	var of clusterv1.Cluster
	p.Must(c.Get(p.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &of))
	var list clusterv1.MachineList
	p.Must(c.List(p.Context(), &list))
	var text strings.Builder
	say := func(kind, name string, all []metav1.Condition) {
		for _, one := range all {
			if one.Message != "" {
				fmt.Fprintf(&text, "%s %s: %s=%s %s; ", kind, name, one.Type, one.Status, one.Message)
			}
		}
	}
	say("Cluster", name, of.Status.Conditions)
	say("MachineDeployment", name, md.Status.Conditions)
	for _, m := range list.Items {
		say("Machine", m.Name, m.Status.Conditions)
	}
	return text.String()
}
