package fakeclient

import (
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/nodesim/nodesim/timeline"
)

// patch answers with what the object on the tape would be. An apply patch is
// merged like a merge patch: there are no field managers.
func (c *Client) patch(w *Write, as form) (runtime.Object, error) {
	o, err := c.alive(w)
	apply := w.PatchType == types.ApplyYAMLPatchType
	if err != nil && !(apply && apierrors.IsNotFound(err)) {
		return nil, err
	}
	r, _ := c.cluster.Resource(w.Resource)
	doc := bare(r, w)
	if o != nil {
		doc = o.Raw()
	}
	doc, err = patched(doc, w, r)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s patch of %s %q: %v", patchNames[w.PatchType], w.Resource.GroupResource(), w.Name, err))
	}
	obj, err := as.decode(doc)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("patched %s %q: %v", w.Resource.GroupResource(), w.Name, err))
	}
	return obj, nil
}

// bare is the object that a patch starts from where there is none.
func bare(r timeline.Resource, w *Write) []byte {
	m := map[string]any{"name": w.Name}
	if w.Namespace != "" {
		m["namespace"] = w.Namespace
	}
	doc, _ := json.Marshal(map[string]any{"kind": r.Kind, "apiVersion": w.Resource.GroupVersion().String(), "metadata": m}) // strings only: it can't fail
	return doc
}

func patched(doc []byte, w *Write, r timeline.Resource) ([]byte, error) {
	switch w.PatchType {
	case types.JSONPatchType:
		p, err := jsonpatch.DecodePatch(w.Body)
		if err != nil {
			return nil, err
		}
		return p.Apply(doc)
	case types.MergePatchType:
		return jsonpatch.MergePatch(doc, w.Body)
	case types.StrategicMergePatchType:
		t, err := scheme.Scheme.New(schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind})
		if err != nil {
			return nil, fmt.Errorf("a custom resource takes merge and JSON patches only")
		}
		return strategicpatch.StrategicMergePatch(doc, w.Body, t)
	case types.ApplyYAMLPatchType:
		body, err := yaml.ToJSON(w.Body)
		if err != nil {
			return nil, err
		}
		return jsonpatch.MergePatch(doc, body)
	}
	return nil, fmt.Errorf("type %s: want JSON, merge, strategic merge or apply (YAML)", w.PatchType)
}
