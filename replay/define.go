package replay

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/timeline"
)

// Define has the Cluster serve a resource that its header doesn't list, in these
// versions: a CustomResourceDefinition makes it one. All versions show the same
// objects, as they were written: who serves another version than an object says
// converts it. Versions that were defined before and aren't named are served no
// longer; without any, the resource is gone for requests. What the header lists stays.
//
// The events of a resource that was defined name it as Resource.String does.
func (c *Cluster) Define(gr schema.GroupResource, versions ...timeline.Resource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	listed := func(r timeline.Resource) bool { return slices.Contains(c.header.Resources, r) }
	var all []served
	for _, s := range *c.served.Load() {
		if s.Group != gr.Group || s.Resource.Resource != gr.Resource || listed(s.Resource) || slices.Contains(c.empty, s.Resource) {
			all = append(all, s)
		}
	}
	k := c.stateOf(gr)
	for _, r := range versions {
		if k == nil {
			k = c.newKind(r)
			k.phase = live
			version := c.newestVersion()
			k.log.append(watch.Bookmark, version, bookmarkOf(r, version), nil)
			k.log.floor = version
		}
		if !slices.ContainsFunc(all, func(s served) bool {
			return s.Group == r.Group && s.Version == r.Version && s.Resource.Resource == r.Resource // the header's, in another scope or of another kind
		}) {
			all = append(all, served{r, k})
		}
	}
	c.served.Store(&all)
	c.defined.Add(1)
}

// newestVersion is the highest of all resources.
func (c *Cluster) newestVersion() string {
	version := addVersions(origin, c.base)
	for _, k := range c.kinds {
		if compareVersions(k.log.high, version) > 0 {
			version = k.log.high
		}
	}
	return version
}

// stateOf returns what holds the objects of a resource, or has held them.
func (c *Cluster) stateOf(gr schema.GroupResource) *kind {
	for _, k := range c.kinds {
		if k.resource.Group == gr.Group && k.resource.Resource == gr.Resource {
			return k
		}
	}
	return nil
}

// Definitions counts how often Define was called: who keeps what it knows of the
// Cluster's resources sees by it that they are others.
func (c *Cluster) Definitions() uint64 { return c.defined.Load() }
