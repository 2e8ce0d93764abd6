package replay

import (
	"strings"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// custom reports whether a resource is one of a CustomResourceDefinition: where the tape doesn't hold one, whether its
// group is one that Kubernetes doesn't use.
func custom(r timeline.Resource, definition []byte) bool {
	return definition != nil || strings.Contains(r.Group, ".") && !strings.HasSuffix(r.Group, ".k8s.io")
}

// definition returns the CustomResourceDefinition of a resource as it is now, or nil.
func (c *Cluster) definition(r timeline.Resource) []byte {
	if r.Group == "" {
		return nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if k := c.stateOf(schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}); k != nil {
		if o := k.objects[name{"", r.Resource + "." + r.Group}]; o != nil {
			return o.raw
		}
	}
	return nil
}

// selectableOf reads the fields that a definition lets its resources be selected by (KEP-4358).
func selectableOf(r timeline.Resource, definition []byte) getters {
	all := getters{}
	for version := range rawjson.Elements(rawjson.Get(definition, "spec", "versions")) {
		if rawjson.Text(version, "name") != r.Version {
			continue
		}
		for field := range rawjson.Elements(rawjson.Get(version, "selectableFields")) {
			label := strings.TrimPrefix(rawjson.Text(field, "jsonPath"), ".")
			all[label] = scalar(strings.Split(label, ".")...)
		}
	}
	return all
}

// scalar reads a text, a number or a boolean; a definition allows no other.
func scalar(path ...string) func(*Object) string {
	return func(o *Object) string {
		raw := rawjson.Get(o.raw, path...)
		if s, ok := rawjson.Unquote(raw); ok {
			return s
		}
		return string(raw)
	}
}
