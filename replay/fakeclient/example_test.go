package fakeclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/timeline"
)

// tape is a roll in short: the node is cordoned, its pod goes, the node goes.
func tape() timeline.Source {
	event := func(at time.Duration, kind timeline.Type, resource, namespace, name, rv, object string) timeline.Event {
		return timeline.Event{At: at, Type: kind, Resource: resource, Namespace: namespace, Name: name, UID: "uid-" + name, RV: rv, Object: []byte(object)}
	}
	node := func(rv, spec string) string {
		return `{"kind":"Node","apiVersion":"v1","metadata":{"name":"old","uid":"uid-old","resourceVersion":"` + rv + `"},"spec":` + spec + `}`
	}
	pod := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"default","uid":"uid-web","resourceVersion":"401"},"spec":{"nodeName":"old"}}`
	return replay.Events(
		&timeline.Header{
			Metadata: timeline.Metadata{Name: "example"},
			Resources: []timeline.Resource{
				{Version: "v1", Kind: "Node", Resource: "nodes"},
				{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
			},
		},
		[]timeline.Event{
			event(0, timeline.Added, "nodes", "", "old", "400", node("400", `{}`)),
			{Type: timeline.Sync, Resource: "nodes", RV: "500"},
			event(0, timeline.Added, "pods", "default", "web", "401", pod),
			{Type: timeline.Sync, Resource: "pods", RV: "501"},
			event(10*time.Second, timeline.Modified, "nodes", "", "old", "510", node("510", `{"unschedulable":true}`)),
			event(14*time.Second, timeline.Deleted, "pods", "default", "web", "520", pod),
			event(30*time.Second, timeline.Deleted, "nodes", "", "old", "530", node("530", `{"unschedulable":true}`)),
		})
}

// drainer is the controller under test: it evicts the pods of cordoned nodes.
type drainer struct {
	client kubernetes.Interface
	pods   func() ([]*corev1.Pod, error)
}

func (d *drainer) OnUpdate(_, obj any) {
	node := obj.(*corev1.Node)
	if !node.Spec.Unschedulable {
		return
	}
	pods, err := d.pods()
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range pods {
		if p.Spec.NodeName == node.Name {
			_ = d.client.CoreV1().Pods(p.Namespace).EvictV1(context.Background(),
				&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}})
		}
	}
}

func (d *drainer) OnAdd(obj any, _ bool) {}
func (d *drainer) OnDelete(obj any)      { fmt.Println("node gone:", obj.(*corev1.Node).Name) }

// A small controller goes through a recorded roll, event by event, and what it
// did comes out as text.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c, err := fakeclient.New(tape(), fakeclient.WithWrites(fakeclient.Record))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	factory := informers.NewSharedInformerFactory(c, 0)
	pods := factory.Core().V1().Pods()
	c.Track(pods.Informer())
	controller := &drainer{client: c, pods: func() ([]*corev1.Pod, error) { return pods.Lister().List(labels.Everything()) }}
	if _, err := c.Handle(factory.Core().V1().Nodes().Informer(), controller); err != nil {
		log.Fatal(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	for {
		err := c.Step(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		list, _ := pods.Lister().List(labels.Everything())
		fmt.Printf("T+%s: %d pods, %d writes\n", c.Player().Position(), len(list), len(c.Writes()))
	}
	fmt.Print(c.WriteLog())
	cancel()
	factory.Shutdown()
	// Output:
	// T+10s: 1 pods, 1 writes
	// T+14s: 0 pods, 1 writes
	// node gone: old
	// T+30s: 0 pods, 1 writes
	// create pods default/web eviction
}

var _ cache.ResourceEventHandler = (*drainer)(nil)
