// Package objects is what kube-controller-manager does with objects of any kind in a simulated cluster that takes
// writes. Garbage: it collects what has lost its owners. Namespaces: it ends them with all that is in them, and gives
// each its account and certificate. Services: it says in Endpoints and EndpointSlices where their pods are. Volumes: it
// binds, makes, protects and reclaims them. Quotas: it counts what they bound. Events: it deletes them in their time.
//
// In: every write of every object, a client's or an actor's. Out: writes to the simulated API. It must never read
// another actor's memory, nor write from within what it is told.
package objects

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// Config configures Objects.
type Config struct {
	Env *component.Env
	// Header names the resources that there are. It may grow.
	Header *timeline.Header
	// Disk makes the volume of a claim in a zone, "" is any; nil where the class is of another driver than the provider's.
	Disk func(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, zone string) *corev1.PersistentVolume
}

// Objects knows of every object who owns it, what holds it and whether it is at its end. Of some kinds it has the whole
// text.
type Objects struct {
	Config
	kinds       map[string]*Kind // by the resource that an event names
	byName      map[name]*Object
	byUID       map[string]*Object
	inNamespace map[string]map[*Object]struct{}
	events      map[string]map[string]reporter // by namespace and name
	expires     map[[2]string]time.Duration    // Events of clients, by namespace and name
	made        uint64
	admission   uint64 // counts changes of what pods are admitted by
	bytes       int    // of all objects
	presumed    map[types.UID]bool
	lastOwners  owners
	defined     map[string][]timeline.Resource // by CustomResourceDefinitions: the versions, by resource and group

	garbage    *garbage
	namespaces *namespaces
	accounts   *accounts
	services   *services
	volumes    *volumes
	quotas     *quotas
}

// Kind is a kind of object.
type Kind struct {
	timeline.Resource
	key      string               // as events name the resource
	resource string               // with its group: pods, deployments.apps
	keeps    bool                 // the text
	there    map[*Object]struct{} // where it keeps the text
}

type name struct {
	kind            *Kind
	namespace, name string
}

// owners are the owner references that were read last: the pods of a controller have the same.
type owners struct {
	text []byte
	list []metav1.OwnerReference
}

// Object is what there is to know of an object of any kind.
type Object struct {
	*Kind
	Namespace, Name, UID string
	Owners               []metav1.OwnerReference
	Finalizers           []string
	Deleting             bool
	Generation           int64

	text  []byte // where its kind keeps it
	facts *facts // of a pod
	spec  []byte // of a pod: what of it quotas look at
	n     uint64 // of its creation
	size  int    // when it was last seen whole
	gone  bool
}

// New starts the controllers of objects of any kind. Call it before there are objects.
func New(c Config) *Objects {
	s := &Objects{
		Config: c, kinds: map[string]*Kind{}, byName: map[name]*Object{}, byUID: map[string]*Object{},
		inNamespace: map[string]map[*Object]struct{}{}, events: map[string]map[string]reporter{},
		expires: map[[2]string]time.Duration{}, defined: map[string][]timeline.Resource{},
	}
	s.garbage = newGarbage(s)
	s.namespaces = newNamespaces(s)
	s.accounts = newAccounts(s)
	s.services = newServices(s)
	s.volumes = newVolumes(s)
	s.quotas = newQuotas(s)
	return s
}

// Text returns the whole object, where its kind is one that is kept whole.
func (x *Object) Text() []byte { return x.text }

// All returns the objects of a resource that is kept whole, in the order of their creation.
func (s *Objects) All(resource string) []*Object { return inOrder(s.kind(resource).there) }

// Controllers create pods only while there is less than this. Clients have the same bounds (replay/bounds.go).
const (
	most      = 1_000_000
	mostBytes = 1 << 30
)

// Admission counts the changes of ServiceAccounts, PriorityClasses and LimitRanges, by which pods are admitted.
func (s *Objects) Admission() uint64 { return s.admission }

// Full reports whether there is no room for more pods.
func (s *Objects) Full() bool { return len(s.byName) >= most || s.bytes >= mostBytes }

// kept are the kinds whose text the controllers here or those of pods need.
var kept = map[string]bool{
	"customresourcedefinitions.apiextensions.k8s.io": true, "namespaces": true, "services": true, "endpoints": true, "endpointslices.discovery.k8s.io": true,
	"persistentvolumeclaims": true, "persistentvolumes": true, "storageclasses.storage.k8s.io": true,
	"serviceaccounts": true, "priorityclasses.scheduling.k8s.io": true, "limitranges": true, "resourcequotas": true,
}

// whole reports whether the text of an object is kept: of all of its kind, or of the ConfigMap with the certificate.
func (x *Object) whole() bool {
	return x.keeps || x.Name == rootConfig && x.resource == "configmaps"
}

// kind finds the kind that an event names.
func (s *Objects) kind(key string) *Kind {
	if k := s.kinds[key]; k != nil {
		return k
	}
	r, ok := s.Header.Lookup(key)
	if d := s.defined[key]; !ok && len(d) > 0 {
		r = d[0]
	} else if !ok {
		r = timeline.Resource{Resource: key}
	}
	for _, k := range s.kinds {
		if k.Resource == r {
			s.kinds[key] = k
			return k
		}
	}
	resource := r.String()
	k := &Kind{Resource: r, key: key, resource: resource, keeps: kept[resource], there: map[*Object]struct{}{}}
	s.kinds[key] = k
	return k
}

// Get returns an object by the resource that events name, or nil.
func (s *Objects) Get(resource, namespace, called string) *Object {
	return s.byName[name{s.kind(resource), namespace, called}]
}

// Saw takes a write of a client or an actor: an event of a tape with the whole object or a patch.
func (s *Objects) Saw(ev *timeline.Event) {
	if !ev.Type.Object() {
		return
	}
	k := s.kind(ev.Resource)
	if k.resource == "events" { // and no custom resource of that name
		s.sawEvent(ev)
		return
	}
	id := name{k, ev.Namespace, ev.Name}
	x := s.byName[id]
	switch {
	case ev.Type == timeline.Deleted:
		if x != nil {
			s.remove(id, x)
		}
	case x == nil:
		s.add(id, ev)
	default:
		s.modify(x, ev)
	}
}

func (s *Objects) add(id name, ev *timeline.Event) {
	s.made++
	x := &Object{Kind: id.kind, Namespace: ev.Namespace, Name: ev.Name, UID: ev.UID, n: s.made, size: len(ev.Object)}
	s.bytes += x.size
	s.readMeta(x, rawjson.Get(ev.Object, "metadata"))
	if x.whole() {
		x.text = bytes.Clone(ev.Object)
		x.there[x] = struct{}{}
	} else if x.resource == "pods" {
		x.facts, x.spec = factsOf(ev), s.quotas.specs.reduce(rawjson.Get(ev.Object, "spec"))
	}
	s.byName[id] = x
	s.byUID[x.UID] = x
	if x.Namespace != "" {
		in := s.inNamespace[x.Namespace]
		if in == nil {
			in = map[*Object]struct{}{}
			s.inNamespace[x.Namespace] = in
		}
		in[x] = struct{}{}
	}
	s.tell(kube.Added, nil, x)
}

func (s *Objects) modify(x *Object, ev *timeline.Event) {
	was := *x
	if ev.Object != nil {
		s.bytes += len(ev.Object) - x.size
		x.Owners, x.Finalizers, x.Deleting, x.Generation, x.size = nil, nil, false, 0, len(ev.Object)
		s.readMeta(x, rawjson.Get(ev.Object, "metadata"))
		if x.whole() {
			x.text = bytes.Clone(ev.Object)
		} else if x.resource == "pods" {
			x.spec = s.quotas.specs.reduce(rawjson.Get(ev.Object, "spec"))
		}
	} else {
		if spec := rawjson.Get(ev.Patch, "spec"); spec != nil && x.resource == "pods" {
			x.spec = s.quotas.specs.patched(x.spec, spec)
		}
		m := rawjson.Get(ev.Patch, "metadata")
		if m == nil && !x.whole() {
			return
		}
		s.readMeta(x, m)
		if x.whole() {
			x.text = rawjson.Apply(nil, x.text, ev.Patch)
		}
	}
	s.tell(kube.Modified, &was, x)
}

func (s *Objects) remove(id name, x *Object) {
	x.gone = true
	s.bytes -= x.size
	delete(s.byName, id)
	delete(x.there, x)
	if s.byUID[x.UID] == x {
		delete(s.byUID, x.UID)
	}
	if in := s.inNamespace[x.Namespace]; in != nil {
		if delete(in, x); len(in) == 0 {
			delete(s.inNamespace, x.Namespace)
		}
	}
	s.tell(kube.Deleted, x, x)
}

func (s *Objects) tell(c kube.Change, was, x *Object) {
	if x.resource == "customresourcedefinitions.apiextensions.k8s.io" && c != kube.Deleted {
		s.define(x)
	}
	if r := x.resource; r == "serviceaccounts" || r == "priorityclasses.scheduling.k8s.io" || r == "limitranges" {
		s.admission++
	}
	s.garbage.seen(c, was, x)
	s.namespaces.seen(c, was, x)
	s.accounts.seen(c, x)
	s.services.seen(c, x)
	s.volumes.seen(c, x)
	s.quotas.seen(c, was, x)
}

// readMeta reads what an object's metadata or a patch of it says.
func (s *Objects) readMeta(x *Object, metadata []byte) {
	for name, value := range rawjson.Members(metadata) {
		none := string(value) == "null"
		switch string(name) {
		case "uid":
			if uid, ok := rawjson.Unquote(value); ok && x.UID == "" {
				x.UID = uid
			}
		case "ownerReferences":
			x.Owners = s.readOwners(value)
		case "finalizers":
			x.Finalizers = nil
			_ = json.Unmarshal(value, &x.Finalizers) // what the API server takes is a list of strings
		case "deletionTimestamp":
			x.Deleting = !none
		case "generation":
			x.Generation, _ = strconv.ParseInt(string(value), 10, 64)
		}
	}
}

func (s *Objects) readOwners(text []byte) []metav1.OwnerReference {
	if !bytes.Equal(text, s.lastOwners.text) {
		s.lastOwners = owners{text: bytes.Clone(text)}
		_ = json.Unmarshal(text, &s.lastOwners.list) // as above
	}
	return s.lastOwners.list
}

// in returns what is in a namespace, in the order of its creation.
func (s *Objects) in(namespace string) []*Object { return inOrder(s.inNamespace[namespace]) }

func inOrder(set map[*Object]struct{}) []*Object {
	return slices.SortedFunc(maps.Keys(set), func(a, b *Object) int { return cmp.Compare(a.n, b.n) })
}
