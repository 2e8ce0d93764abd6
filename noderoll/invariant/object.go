package invariant

import (
	"strconv"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What holds for the metadata of any object.
var (
	oneUID = &Invariant{
		Name:     "one-uid-per-name",
		Sentence: "An object keeps its uid, and its name comes back with another uid only after its deletion.",
		Source:   "apimachinery, pkg/apis/meta/v1/types.go, ObjectMeta.UID",
	}
	lifeInOrder = &Invariant{
		Name:     "life-in-order",
		Sentence: "An object is ADDED once, then MODIFIED, and DELETED last; nothing of a uid comes after its DELETED.",
		Source:   "Kubernetes API concepts, \"Efficient detection of changes\"; apimachinery, pkg/watch/watch.go, EventType",
	}
	versionIncreases = &Invariant{
		Name:     "version-increases",
		Sentence: "The resourceVersion of an object grows with each of its changes, its deletion included.",
		Source:   "Kubernetes API concepts, \"Resource versions\"; KEP-5504, comparable resource versions",
	}
	versionsInOrder = &Invariant{
		Name:     "versions-in-order",
		Sentence: "Outside of lists, the changes of one resource come in the order of their resourceVersions.",
		Source:   "apiserver, pkg/storage/etcd3/watcher.go: a watch delivers in the order of etcd's revisions",
	}
	createdOnce = &Invariant{
		Name:     "created-once",
		Sentence: "creationTimestamp never changes.",
		Source:   "apimachinery, pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessorUpdate",
	}
	createdWhenAdded = &Invariant{
		Name:     "created-when-added",
		Sentence: "An object that is ADDED after the first list of a tape of the whole cluster was created just then.",
		Source:   "apiserver, pkg/registry/rest/create.go, BeforeCreate sets creationTimestamp",
	}
	noFuture = &Invariant{
		Name:     "no-future",
		Sentence: "No time in an object is later than the moment of the change that shows it, but for deletionTimestamp.",
		Source:   "all are written with the writer's clock: kubelet, controllers, API server",
	}
	generationGrows = &Invariant{
		Name:     "generation-grows",
		Sentence: "metadata.generation never decreases.",
		Source:   "apimachinery, pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessorUpdate",
	}
	observedNotAhead = &Invariant{
		Name:     "observed-not-ahead",
		Sentence: "An observedGeneration is never greater than the generation.",
		Source:   "Kubernetes API conventions, \"Typical status properties\"",
	}
)

var objectInvariants = []*Invariant{
	oneUID, lifeInOrder, versionIncreases, versionsInOrder, createdOnce, createdWhenAdded, noFuture, generationGrows, observedNotAhead,
}

// live finds the object of a change among the living, or lets it begin to live.
func (c *Checker) live(s *stream, ch *Change) (h *trackedObject, fresh bool) {
	o := ch.Object
	key := objectKey{ch.Resource, o.GetNamespace(), o.GetName()}
	uid := string(o.GetUID())
	jump := s.jumps(c.at)
	h = c.objects[key]
	replaced := false
	if h != nil && h.uid != uid && uid != "" {
		if !jump {
			c.report(h, oneUID, "uid "+uid+" after "+h.uid, "DELETED of the one before the other")
		}
		c.forget(h)
		h, replaced = nil, true
	}
	if h == nil {
		h = c.memory.objects.take()
		*h = trackedObject{key: key, uid: uid, reported: h.reported[:0]}
		c.objects[key] = h
		if died, dead := c.tombstones.dead[uid]; dead {
			c.report(h, lifeInOrder, string(ch.Type)+" of uid "+uid+", which was DELETED at "+string(noderoll.AppendStamp(nil, died.at)), "nothing of it after that")
		} else if ch.Type != ChangeAdded && !jump && !replaced {
			c.report(h, lifeInOrder, string(ch.Type)+" of an object that isn't there", "ADDED first")
		}
		return h, true
	}
	if ch.Type == ChangeAdded && !jump {
		c.report(h, lifeInOrder, "ADDED of an object that is there", "MODIFIED")
	}
	return h, false
}

// metadata checks what every object has.
func (c *Checker) metadata(h *trackedObject, s *step) {
	o := s.Object
	c.versions(h, s)
	created := o.GetCreationTimestamp().Time
	if !s.first && !created.Equal(h.created) {
		c.report(h, createdOnce, "creationTimestamp "+stamp(created), "what it was, "+stamp(h.created))
	}
	c.notFuture(h, "creationTimestamp", "", created)
	if s.first && !s.jump && s.Type == ChangeAdded {
		c.createdNow(h, created)
	}
	if g := o.GetGeneration(); g < h.generation && !s.first {
		c.report(h, generationGrows, "generation "+itoa(g)+" after "+itoa(h.generation), "no less")
	}
	h.created, h.generation = created, o.GetGeneration()
	h.finalizers = len(o.GetFinalizers()) > 0
	c.deletion(h, s)
}

func (c *Checker) versions(h *trackedObject, s *step) {
	if s.Version == "" {
		return
	}
	if !s.first && older(s.Version, h.version) {
		c.report(h, versionIncreases, "resourceVersion "+s.Version+" after "+h.version, "a greater one")
	}
	h.version = s.Version
	all := c.streams[h.key.resource]
	// A recorder holds Events back until it knows whether their object is in
	// scope, and pods until their owner is.
	if !s.jump && h.key.resource != noderoll.Events && !c.opts.Partial && older(s.Version, all.version) {
		c.report(h, versionsInOrder, "resourceVersion "+s.Version+" after "+all.version+" of "+h.key.resource, "a greater one")
	}
	if !older(s.Version, all.version) {
		all.version = s.Version
	}
}

// createdNow checks the creationTimestamp, in whole seconds, of what has just come.
func (c *Checker) createdNow(h *trackedObject, created time.Time) {
	now, ok := c.now()
	if !ok || created.IsZero() {
		return
	}
	if created.After(now.Add(-time.Second-c.opts.tolerance())) && !created.After(now.Add(c.opts.tolerance())) {
		c.clocked = true
	}
	if least := now.Add(-time.Second - c.opts.Lag); c.clocked && !c.opts.Partial && created.Before(least) {
		c.report(h, createdWhenAdded, "creationTimestamp "+stamp(created)+" at "+stamp(now), "the time of ADDED")
	}
}

// notFuture checks a time that has passed: a member, and of what in the object it is one, where that isn't the object
// itself.
func (c *Checker) notFuture(h *trackedObject, what, of string, t time.Time) {
	if !t.After(c.latest) || c.opts.Start.IsZero() || t.IsZero() {
		return
	}
	if now, ok := c.now(); ok {
		if of != "" {
			what += " of " + of
		}
		c.report(h, noFuture, what+" "+stamp(t)+" at "+stamp(now), "no time that is still to come")
	}
}

// older reports whether version a is not greater than b, as etcd counts them.
// What isn't a number can't be compared.
func older(a, b string) bool {
	if !decimal(a) || !decimal(b) {
		return false
	}
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a <= b
}

// decimal reports whether v is a version as etcd makes them: no leading zero.
func decimal(v string) bool {
	if v == "" || v[0] == '0' {
		return false
	}
	for i := range len(v) {
		if v[i] < '0' || v[i] > '9' {
			return false
		}
	}
	return true
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// stamp is a wall time for messages.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "(none)"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
