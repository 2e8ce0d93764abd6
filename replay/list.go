package replay

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/timeline"
)

// List is an answer to a list request.
type List struct {
	Resource timeline.Resource
	// ResourceVersion is where a watch goes on from this list, missing
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
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, err := c.find(gvr)
	if err != nil {
		return nil, err
	}
	if _, err := c.notOlder(k, opts.ResourceVersion); err != nil {
		return nil, err
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
	k, err := c.find(gvr)
	if err != nil {
		return nil, err
	}
	opts.Watch = false
	q, err := newRequest(k.resource, namespace, opts)
	if err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	k.told()
	if opts.Continue != "" {
		return c.listOn(k, q)
	}
	version, err := c.notOlder(k, opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	limit := opts.Limit
	if opts.ResourceVersion == "0" {
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

// told notes that somebody knows the time before the first list.
func (k *kind) told() {
	if k.log.last == "" {
		k.sorting.Lock()
		k.seen = true
		k.sorting.Unlock()
	}
}

// notOlder checks a requested version against the newest, and returns its
// canonical form: "" for "" and "0", which any state satisfies.
func (c *Cluster) notOlder(k *kind, rv string) (string, error) {
	if rv == "" || rv == "0" {
		return "", nil
	}
	v, ok := parseVersion(rv)
	if !ok {
		return "", badVersion(rv)
	}
	if k.future(v, c.base) {
		return "", tooLarge(v, k.version(c.base))
	}
	return v, nil
}

// version is what a list is stamped with now.
func (k *kind) version(base string) string {
	if k.log.last == "" {
		return addVersions(origin, base)
	}
	return k.log.last
}

func (k *kind) future(v, base string) bool {
	high := k.log.high
	if high == "" {
		high = addVersions(origin, base)
	}
	return compareVersions(v, high) > 0
}

// inOrder returns what is alive, by key. The slice must not be written to.
func (k *kind) inOrder() []*Object {
	k.sorting.Lock()
	defer k.sorting.Unlock()
	if k.sorted == nil {
		k.sorted = inOrder(k.objects)
	}
	return k.sorted
}

// resortable is how many objects may be moved to keep the order; with more,
// sorting again for the next list is the cheaper way.
const resortable = 4096

// resort keeps the sorted objects, where there are any, in step with a change.
// The cluster's lock is held, so that nobody reads them.
func (k *kind) resort(what watch.EventType, o *Object) {
	if k.sorted == nil {
		return
	}
	i, found := slices.BinarySearchFunc(k.sorted, o.key, func(o *Object, key string) int { return strings.Compare(o.key, key) })
	switch {
	case found && what != watch.Deleted:
		k.sorted[i] = o
	case len(k.sorted) > resortable:
		k.sorted = nil
	case found:
		k.sorted = slices.Delete(k.sorted, i, i+1)
	case what != watch.Deleted:
		k.sorted = slices.Insert(k.sorted, i, o)
	}
}

func inOrder(objects map[name]*Object) []*Object {
	all := make([]*Object, 0, len(objects))
	for _, o := range objects {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *Object) int { return strings.Compare(a.key, b.key) })
	return all
}

// past returns what was alive at a moment, by undoing what has come since.
func (k *kind) past(from cursor) []*Object {
	if !from.more() {
		return k.inOrder()
	}
	then := maps.Clone(k.objects)
	undone := map[name]bool{}
	for e := from.next(); e != nil; e = from.next() {
		if e.object == nil || e.object.key == "" {
			continue // a bookmark
		}
		id := name{e.object.namespace, e.object.name}
		if undone[id] {
			continue // the first change since then knows what was before
		}
		undone[id] = true
		if e.prev == nil {
			delete(then, id)
		} else {
			then[id] = e.prev
		}
	}
	return inOrder(then)
}

// token is the continue token, in the API server's own form
// (k8s.io/apiserver/pkg/storage/continue.go). A version of -1 goes on with
// what is there now.
type token struct {
	Form    string      `json:"v"`
	Version json.Number `json:"rv"`
	Start   string      `json:"start"`
}

func (t token) encode() string {
	b, _ := json.Marshal(t) // digits and text: it can't fail
	return base64.RawURLEncoding.EncodeToString(b)
}

const tokenForm = "meta.k8s.io/v1"

// listOn answers with the page that a continue token asks for.
func (c *Cluster) listOn(k *kind, q *request) (*List, error) {
	if rv := q.opts.ResourceVersion; rv != "" && rv != "0" {
		return nil, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	var t token
	b, err := base64.RawURLEncoding.DecodeString(q.opts.Continue)
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err != nil || t.Form != tokenForm || t.Start == "" {
		return nil, apierrors.NewBadRequest("continue key is not valid: want the token of a list's metadata.continue")
	}
	if t.Version == "-1" {
		return page(k, q, k.inOrder(), k.version(c.base), t.Start, q.opts.Limit)
	}
	version, ok := parseVersion(t.Version.String())
	if !ok || k.future(version, c.base) {
		return nil, apierrors.NewBadRequest("continue key is not valid: incorrect encoded start resourceVersion (version " + tokenForm + ")")
	}
	from, ok := k.log.after(version)
	if !ok {
		return nil, continueExpired(token{tokenForm, "-1", t.Start}.encode())
	}
	return page(k, q, k.past(from), version, t.Start, q.opts.Limit)
}

// page picks at most limit objects from start on.
func page(k *kind, q *request, all []*Object, version, start string, limit int64) (*List, error) {
	l := &List{Resource: k.resource, ResourceVersion: version}
	i, _ := slices.BinarySearchFunc(all, start, func(o *Object, key string) int { return strings.Compare(o.key, key) })
	for ; i < len(all); i++ {
		if !q.matches(all[i]) {
			continue
		}
		if limit > 0 && int64(len(l.Items)) == limit {
			break
		}
		l.Items = append(l.Items, all[i])
	}
	if i < len(all) {
		// There is a match behind: etcd would look for it as well.
		l.Continue = token{tokenForm, json.Number(version), l.Items[len(l.Items)-1].key + "\x00"}.encode()
		if q.everything() {
			l.Remaining = new(int64)
			for _, o := range all[i:] {
				if q.matches(o) {
					*l.Remaining++
				}
			}
		}
	}
	return l, nil
}
