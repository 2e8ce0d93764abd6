package media_test

import (
	"fmt"
	"net/http"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver/internal/media"
	"github.com/nodesim/nodesim/timeline"
)

// A client asks for the metadata of nodes alone, and reads it as a list and as
// the frames of a watch.
func Example() {
	nodes := timeline.Resource{Version: "v1", Kind: "Node", Resource: "nodes"}
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	cluster := replay.NewCluster(&timeline.Header{Resources: []timeline.Resource{nodes}})
	_, err := cluster.Apply(timeline.Event{
		Type: timeline.Added, Resource: "nodes", Name: "ip-10-0-1-10", RV: "7",
		Object: []byte(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"ip-10-0-1-10","resourceVersion":"7"},"spec":{"unschedulable":true}}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cluster.Settle()

	maker := media.NewMaker(nodes, media.Options{})
	req := &http.Request{Header: http.Header{"Accept": {"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}}}
	form, err := media.Negotiate(req, nodes, media.Collection)
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := cluster.List(gvr, "", metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := maker.List(form, list, os.Stdout); err != nil {
		fmt.Println(err)
		return
	}

	req.Header.Set("Accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
	if form, err = media.Negotiate(req, nodes, media.Stream); err != nil {
		fmt.Println(err)
		return
	}
	w, err := cluster.Watch(gvr, "", metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Stop()
	ev, err := w.TryNext()
	if err != nil {
		fmt.Println(err)
		return
	}
	frame, err := maker.Frame(form, ev, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s%s\n", frame, form.ContentType())
	// Output:
	// {"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"ip-10-0-1-10","resourceVersion":"7"}}]}
	// {"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"ip-10-0-1-10","resourceVersion":"7"}}}
	// application/json
}
