package apiserver_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/timeline"
)

// inNamespaces is a tape without namespaces, on which one comes into use late.
func inNamespaces(t *testing.T, opts ...apiserver.Option) (*kubernetes.Clientset, *replay.Player) {
	t.Helper()
	pods := timeline.Resource{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
	pod := func(at timeline.Event, namespace, rv string) timeline.Event {
		at.Type, at.Resource, at.Namespace, at.Name, at.UID, at.RV = timeline.Added, "pods", namespace, "a", namespace+"-a", rv
		at.Object = []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"` + namespace + `","uid":"` + namespace + `-a","resourceVersion":"` + rv + `"}}`)
		return at
	}
	h := &timeline.Header{Resources: []timeline.Resource{pods}}
	p, err := replay.NewPlayer(replay.Events(h, []timeline.Event{
		pod(timeline.Event{}, "shop", "1"), {Type: timeline.Sync, Resource: "pods", RV: "1"}, pod(timeline.Event{At: 1e9}, "late", "2"),
	}), replay.StayOpen())
	if err != nil {
		t.Fatal(err)
	}
	s, err := apiserver.New(p, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return kubernetes.NewForConfigOrDie(s.RESTConfig()), p
}

// What objects live in is there, and what comes into use is ADDED to those who watch,
// once, wherever the tape goes.
func TestNamespacesThatObjectsImply(t *testing.T) {
	client, p := inNamespaces(t, apiserver.ImpliedNamespaces())
	list, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names string
	for _, n := range list.Items {
		names += n.Name + " "
		if n.Status.Phase != corev1.NamespaceActive || n.UID == "" || n.Labels[corev1.LabelMetadataName] != n.Name {
			t.Errorf("found %+v, want it Active, with a UID and its name as a label", n)
		}
	}
	if want := "default kube-node-lease kube-public kube-system shop "; names != want {
		t.Errorf("found %q, want %q", names, want)
	}
	w, err := client.CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := p.Step(); err != nil {
		t.Fatal(err)
	}
	if err := p.Seek(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := p.Step(); err != nil {
		t.Fatal(err)
	}
	if ev := <-w.ResultChan(); ev.Type != watch.Added || ev.Object.(*corev1.Namespace).Name != "late" {
		t.Errorf("found %s %v, want ADDED late", ev.Type, ev.Object)
	}
	list, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 6 {
		t.Errorf("found %d, %v, want 6 namespaces, late once", len(list.Items), err)
	}
	found, err := client.Discovery().ServerResourcesForGroupVersion("v1")
	if err != nil || found.APIResources[0].Name != "namespaces" {
		t.Errorf("discovery: %v, %v, want namespaces and pods", found, err)
	}
}

// A server without the option has the tape as it is.
func TestWithoutTheOptionThereAreNoNamespaces(t *testing.T) {
	client, _ := inNamespaces(t)
	if _, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("found namespaces, want 404: the tape holds none")
	}
}
