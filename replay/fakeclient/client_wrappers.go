package fakeclient

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/metadata"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/testing"
)

// The twins are client-go's fakes with the replay before them, and with a List of
// their own: client-go's drop resourceVersion, limit and continue on the way
// to the reactors, panic on a selector that doesn't parse, and the dynamic one
// on a resource that it doesn't know.

type dynamicClient struct {
	*dynamicfake.FakeDynamicClient
	client *Client
}

func newDynamic(c *Client) *dynamicClient {
	kinds := map[schema.GroupVersionResource]string{}
	for _, r := range c.cluster.Resources() {
		kinds[gvrOf(r)] = r.Kind + "List"
	}
	d := &dynamicClient{dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds), c}
	c.serve(&d.Fake, untyped{})
	return d
}

func (d *dynamicClient) IsWatchListSemanticsUnSupported() bool { return !d.client.watchList }

func (d *dynamicClient) Resource(gvr schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	r := d.FakeDynamicClient.Resource(gvr)
	return &dynamicResource{ResourceInterface: r, all: r, client: d, gvr: gvr}
}

type dynamicResource struct {
	dynamic.ResourceInterface // in the namespace
	all                       dynamic.NamespaceableResourceInterface
	client                    *dynamicClient
	gvr                       schema.GroupVersionResource
	namespace                 string
}

func (r *dynamicResource) Namespace(ns string) dynamic.ResourceInterface {
	return &dynamicResource{r.all.Namespace(ns), r.all, r.client, r.gvr, ns}
}

func (r *dynamicResource) List(_ context.Context, opts metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return listAs[*unstructured.UnstructuredList](&r.client.Fake, r.gvr, r.namespace, opts)
}

type metadataClient struct {
	*metadatafake.FakeMetadataClient
	client *Client
}

func newMetadata(c *Client) *metadataClient {
	m := &metadataClient{metadatafake.NewSimpleMetadataClient(metadatafake.NewTestScheme()), c}
	c.serve(&m.Fake, partial{})
	return m
}

func (m *metadataClient) IsWatchListSemanticsUnSupported() bool { return !m.client.watchList }

func (m *metadataClient) Resource(gvr schema.GroupVersionResource) metadata.Getter {
	r := m.FakeMetadataClient.Resource(gvr)
	return &metadataResource{ResourceInterface: r, all: r, client: m, gvr: gvr}
}

type metadataResource struct {
	metadata.ResourceInterface // in the namespace
	all                        metadata.Getter
	client                     *metadataClient
	gvr                        schema.GroupVersionResource
	namespace                  string
}

func (r *metadataResource) Namespace(ns string) metadata.ResourceInterface {
	return &metadataResource{r.all.Namespace(ns), r.all, r.client, r.gvr, ns}
}

func (r *metadataResource) List(_ context.Context, opts metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	return listAs[*metav1.PartialObjectMetadataList](&r.client.Fake, r.gvr, r.namespace, opts)
}

// listAs lists through a fake's reactors, with all its options.
func listAs[L runtime.Object](f *testing.Fake, gvr schema.GroupVersionResource, namespace string, opts metav1.ListOptions) (list L, err error) {
	a := testing.ListActionImpl{
		ActionImpl:       testing.ActionImpl{Verb: "list", Resource: gvr, Namespace: namespace},
		ListRestrictions: testing.ListRestrictions{Labels: labels.Everything(), Fields: fields.Everything()},
		ListOptions:      opts,
	}
	if s, err := labels.Parse(opts.LabelSelector); err == nil {
		a.ListRestrictions.Labels = s
	}
	if s, err := fields.ParseSelector(opts.FieldSelector); err == nil {
		a.ListRestrictions.Fields = s
	}
	obj, err := f.Invokes(a, nil)
	if err != nil {
		return list, err
	}
	list, ok := obj.(L)
	if !ok {
		return list, errors.New("a reactor before the replay answered a list with something else")
	}
	return list, nil
}
