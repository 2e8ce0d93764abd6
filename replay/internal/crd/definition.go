package crd

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/nodesim/nodesim/timeline"
)

// Definition is a CustomResourceDefinition, read.
type Definition struct {
	*apiextensionsv1.CustomResourceDefinition
	versions map[string]*Version
}

// Version is one version of a custom resource.
type Version struct {
	// Status reports whether the status is a subresource.
	Status bool
	// Scale says where the replicas are; nil where there is no subresource scale.
	Scale *apiextensionsv1.CustomResourceSubresourceScale
	// Warning is what a server warns of that serves a deprecated version, or "".
	Warning string

	schema *schema
	status *schema // of the status alone
	open   bool    // nothing is pruned
	rules  bool    // it has CEL rules
}

// Read reads a definition that a server has taken.
func Read(raw []byte) (*Definition, error) {
	d := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(raw, d); err != nil {
		return nil, fmt.Errorf("read a CustomResourceDefinition: %w", err)
	}
	return read(d)
}

func read(d *apiextensionsv1.CustomResourceDefinition) (*Definition, error) {
	all := &Definition{d, map[string]*Version{}}
	for i := range d.Spec.Versions {
		of := &d.Spec.Versions[i]
		v := &Version{open: d.Spec.PreserveUnknownFields}
		if of.Subresources != nil {
			v.Status, v.Scale = of.Subresources.Status != nil, of.Subresources.Scale
		}
		if of.Deprecated {
			v.Warning = warning(d, of)
		}
		if of.Schema != nil && of.Schema.OpenAPIV3Schema != nil {
			s, err := compile(of.Schema.OpenAPIV3Schema)
			if err != nil {
				return nil, fmt.Errorf("schema of %s in %s: %w", d.Name, of.Name, err)
			}
			v.schema, v.status, v.rules = s, s.properties["status"], s.ruled()
		}
		all.versions[of.Name] = v
	}
	return all, nil
}

// warning is that of a deprecated version (k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go).
func warning(d *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	if v.DeprecationWarning != nil {
		return *v.DeprecationWarning
	}
	return fmt.Sprintf("%s/%s %s is deprecated", d.Spec.Group, v.Name, d.Spec.Names.Kind)
}

// Version returns a version; nil where there is none of that name.
func (d *Definition) Version(name string) *Version { return d.versions[name] }

// Stored is the version in which objects are stored.
func (d *Definition) Stored() string {
	for _, v := range d.Spec.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return ""
}

// Plain reports whether objects are shown as they were written: there is one version, which has never been another.
func (d *Definition) Plain() bool { return len(d.Spec.Versions) == 1 && d.Generation <= 1 }

// View makes of a stored object what a client of a version sees: what the stored version has defaults for is filled in,
// and what the client's version doesn't know is pruned.
func (d *Definition) View(object map[string]any, version string) {
	d.versions[d.Stored()].Default(object)
	d.versions[version].Prune(object)
	object["apiVersion"] = d.Spec.Group + "/" + version
}

// Served are the resources that a server has of it, the stored version first.
func (d *Definition) Served() (all []timeline.Resource) {
	if !d.is(apiextensionsv1.Established) {
		return nil
	}
	for _, v := range d.Spec.Versions {
		r := timeline.Resource{
			Group: d.Spec.Group, Version: v.Name, Kind: d.Status.AcceptedNames.Kind, Resource: d.Status.AcceptedNames.Plural,
			Namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped,
		}
		switch {
		case !v.Served:
		case v.Storage:
			all = append([]timeline.Resource{r}, all...)
		default:
			all = append(all, r)
		}
	}
	return all
}

// is reports whether a condition is true.
func (d *Definition) is(t apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	c := d.condition(t)
	return c != nil && c.Status == apiextensionsv1.ConditionTrue
}

// Terminating reports whether no further objects may be created.
func (d *Definition) Terminating() bool { return d.is(apiextensionsv1.Terminating) }

// Path is a simple JSON path, ".spec.replicas", as names.
func Path(simple string) []string { return strings.Split(strings.TrimPrefix(simple, "."), ".") }
