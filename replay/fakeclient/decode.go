package fakeclient

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// form describes how a client wants its objects. A form's value is also the key under
// which a decoded object is kept with its JSON, so that an event is decoded
// once, however many informers get it.
type form interface {
	decode(raw []byte) (runtime.Object, error)
	list(r timeline.Resource, items []runtime.Object, m metav1.ListMeta) (runtime.Object, error)
}

// shared returns the object that all watches share.
func shared(f form, o *replay.Object) (runtime.Object, error) {
	v, err := o.Memo(f, func(o *replay.Object) (any, error) { return f.decode(o.Raw()) })
	if err != nil {
		return nil, fmt.Errorf("object %s/%s at version %s: %w", o.Namespace(), o.Name(), o.ResourceVersion(), err)
	}
	return v.(runtime.Object), nil
}

// unreadable returns the error of the first object of a list or a watch that couldn't be decoded.
func (c *Client) unreadable() error {
	if c.readable.Err() == nil {
		return nil
	}
	return fmt.Errorf("the tape %q can't be read as Go's types: %w", c.player.Header().Metadata.Name, context.Cause(c.readable))
}

// typed is the form of a clientset: Go types, kind and apiVersion empty as
// client-go's typed clients leave them.
type typed struct{}

func (typed) decode(raw []byte) (runtime.Object, error) {
	gv, err := schema.ParseGroupVersion(rawjson.Text(raw, "apiVersion"))
	if err != nil {
		return nil, err
	}
	obj, err := scheme.Scheme.New(gv.WithKind(rawjson.Text(raw, "kind")))
	if err != nil {
		return nil, err
	}
	// What the scheme's JSON serializer does, without looking for the kind twice.
	if err := utiljson.Unmarshal(raw, obj); err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return obj, nil
}

func (typed) list(r timeline.Resource, items []runtime.Object, m metav1.ListMeta) (runtime.Object, error) {
	list, err := scheme.Scheme.New(schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind + "List"})
	if err != nil {
		return nil, err
	}
	if err := meta.SetList(list, items); err != nil {
		return nil, err
	}
	return list, setMeta(list, m)
}

func setMeta(list runtime.Object, m metav1.ListMeta) error {
	to, err := meta.ListAccessor(list)
	if err != nil {
		return err
	}
	to.SetResourceVersion(m.ResourceVersion)
	to.SetContinue(m.Continue)
	to.SetRemainingItemCount(m.RemainingItemCount)
	return nil
}

// untyped is the form of a dynamic client.
type untyped struct{}

func (untyped) decode(raw []byte) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	return u, u.UnmarshalJSON(raw)
}

func (untyped) list(r timeline.Resource, items []runtime.Object, m metav1.ListMeta) (runtime.Object, error) {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(r.APIVersion())
	list.SetKind(r.Kind + "List")
	for _, o := range items {
		list.Items = append(list.Items, *o.(*unstructured.Unstructured))
	}
	return list, setMeta(list, m)
}

// partial is the form of a metadata client.
type partial struct{}

func (partial) decode(raw []byte) (runtime.Object, error) {
	p := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, err
	}
	p.TypeMeta = metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}
	return p, nil
}

func (partial) list(r timeline.Resource, items []runtime.Object, m metav1.ListMeta) (runtime.Object, error) {
	list := &metav1.PartialObjectMetadataList{ListMeta: m}
	for _, o := range items {
		list.Items = append(list.Items, *o.(*metav1.PartialObjectMetadata))
	}
	return list, nil
}
