package replay

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/timeline"
)

// List is an answer to a list request.
type List struct {
	Resource timeline.Resource
	// ResourceVersion is where a watch continues from this list, missing
	// nothing and repeating nothing.
	ResourceVersion string
	// Continue asks for the next page; "" on the last one.
	Continue string
	// Remaining counts what is on later pages, where no selector is given.
	Remaining *int64
	// Items are in the order of the API server's keys: namespace/name.
	Items []*Object
}

// Get returns an object as it is now. Of the options only the resourceVersion
// counts: one from the future is refused, with 504 and the cause
// ResourceVersionTooLarge. Other errors are 404, for the resource or the
// object, and 400.
func (c *Cluster) Get(gvr schema.GroupVersionResource, namespace, objectName string, opts metav1.GetOptions) (*Object, error) {
	k, err := c.find(gvr)
	if err != nil {
		return nil, err
	}
	answer := c.ask(Request{
		Verb: "get", Resource: gvr, Namespace: namespace, Name: objectName,
		Options: metav1.ListOptions{ResourceVersion: opts.ResourceVersion},
	})
	if answer.Err != nil {
		return nil, answer.Err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if _, err := c.notOlder(k, opts.ResourceVersion); err != nil {
		return nil, err
	}
	if from, ok := k.log.after(answer.Version); ok && answer.Version != "" {
		for _, o := range k.past(from) {
			if o.namespace == namespace && o.name == objectName {
				return o, nil
			}
		}
		return nil, apierrors.NewNotFound(gvr.GroupResource(), objectName)
	}
	if o := k.objects[name{namespace, objectName}]; o != nil {
		return o, nil
	}
	return nil, apierrors.NewNotFound(gvr.GroupResource(), objectName)
}

// List answers a list request as an API server does, with selectors,
// resourceVersion and resourceVersionMatch, limit and continue. Pages after
// the first, and lists at an exact version, show the state of their version
// for as long as the history reaches back. An empty namespace is all of them.
//
// Errors are those of apimachinery: 400 for what can't be parsed or selected
// by, 404 for a resource that isn't on the tape, 410 for a version that is too
// old, 422 for options that don't go together, 504 for a version from the
// future.
func (c *Cluster) List(gvr schema.GroupVersionResource, namespace string, opts metav1.ListOptions) (*List, error) {
	return c.listed(gvr, namespace, opts, c.ask)
}

// listed answers a list, as ask wants it.
func (c *Cluster) listed(gvr schema.GroupVersionResource, namespace string, opts metav1.ListOptions, ask func(Request) Verdict) (*List, error) {
	k, err := c.find(gvr)
	if err != nil {
		return nil, err
	}
	opts.Watch = false
	q, err := c.newRequest(k.resource, namespace, opts)
	if err != nil {
		return nil, err
	}
	name, _ := q.named()
	answer := ask(Request{Verb: "list", Resource: gvr, Namespace: namespace, Name: name, Options: opts})
	if answer.Err != nil {
		return nil, answer.Err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	k.told()
	if from, ok := k.log.after(answer.Version); ok && answer.Version != "" {
		return page(k, q, k.past(from), answer.Version, "", opts.Limit)
	}
	if opts.Continue != "" {
		return c.listOn(k, q)
	}
	version, err := c.notOlder(k, opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	limit := opts.Limit
	if opts.ResourceVersion == "0" && !k.uncached() {
		limit = 0 // the watch cache knows no pages (cacher/delegator.go)
	}
	exact := opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact ||
		opts.ResourceVersionMatch == "" && limit > 0
	if version == "" || !exact {
		return page(k, q, k.inOrder(), k.version(c.base), "", limit)
	}
	from, ok := k.log.after(version)
	if !ok {
		return nil, expired(version, k.log.floor)
	}
	return page(k, q, k.past(from), version, "", limit)
}

// notOlder checks a requested version against the newest, and returns its
// canonical form: "" for "" and "0", which any state satisfies.
func (c *Cluster) notOlder(k *kind, rv string) (string, error) {
	if strings.Trim(rv, "0") == "" {
		return "", nil
	}
	v, ok := parseVersion(rv)
	if !ok || !k.reachable(v, c.base) {
		return "", badVersion(rv)
	}
	if k.future(v, c.base) {
		return "", k.tooLarge(v, k.version(c.base))
	}
	return v, nil
}
