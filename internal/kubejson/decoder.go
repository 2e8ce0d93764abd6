// Package kubejson decodes of Nodes, Pods, PodDisruptionBudgets and Events what
// observers of a roll look at, and no more: some five times faster than
// encoding/json, which counts on a tape of millions of events.
//
// A text is a whole object or, for a brief Decoder, a merge patch of one (RFC 7386),
// in the canonical form of rawjson, and is read once from its beginning to its end.
// What it says is written into an object of the caller's, and what it doesn't say is
// left as it is. Members of an odd type count as zero. Name, namespace, uid and resourceVersion
// aren't decoded: they are beside the object on a tape.
package kubejson

import (
	"github.com/nodesim/nodesim/internal/rawjson"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Decoder decodes objects. What comes again and again is decoded once and shared:
// strings, maps, selectors and lists of containers, which nobody may write to. The
// zero value is ready, for one goroutine.
type Decoder struct {
	// Brief leaves out what a roll doesn't show: times of conditions, containers and
	// their states, tolerations, what a budget is made of. Of labels and annotations
	// it only notes the text.
	Brief bool
	// Labels and Annotations are the texts of these members, nil where the last text
	// has none. They are part of it.
	Labels, Annotations []byte

	Words      rawjson.Words
	sets       map[string]map[string]string
	selectors  map[string]*metav1.LabelSelector
	containers map[string][]corev1.Container
}

// Fields says what a text has told of an object, null included.
type Fields uint32

// What a Decoder tells, of metadata, spec and status of Nodes and Pods.
const (
	Labels Fields = 1 << iota
	Annotations
	Created
	Deleting
	Owners
	Unschedulable
	Taints
	KubeletVersion
	OSImage
	Conditions
	NodeName
	Phase

	nodeSpec   = Unschedulable | Taints
	nodeInfo   = KubeletVersion | OSImage
	nodeStatus = nodeInfo | Conditions
	podStatus  = Phase | Conditions
)

// Has reports whether all of want was told.
func (f Fields) Has(want Fields) bool { return f&want == want }

// The bounds of what is shared, in number and in bytes.
const (
	mostShared    = 4096
	longestShared = 4096
)

// share returns what a text was decoded to before, or decodes it.
func share[V any](held *map[string]V, raw []byte, decode func([]byte) V) V {
	if v, known := (*held)[string(raw)]; known {
		return v
	}
	v := decode(raw)
	if len(raw) >= longestShared {
		return v
	}
	if *held == nil {
		*held = map[string]V{}
	} else if len(*held) >= mostShared {
		clear(*held)
	}
	(*held)[string(raw)] = v
	return v
}

// Meta decodes the metadata of an object of any kind.
func (d *Decoder) Meta(m *metav1.ObjectMeta, raw []byte) (told Fields) {
	w := d.walk(raw)
	for name := range w.Members() {
		if string(name) == "metadata" {
			told |= d.meta(m, &w)
		} else {
			w.Value()
		}
	}
	return told
}

func (d *Decoder) walk(raw []byte) rawjson.Walker {
	d.Labels, d.Annotations = nil, nil
	return rawjson.Walk(raw)
}

func (d *Decoder) meta(m *metav1.ObjectMeta, w *rawjson.Walker) (told Fields) {
	for name := range w.Members() {
		switch string(name) {
		case "labels":
			told |= Labels
			if d.Labels = w.Value(); !d.Brief {
				m.Labels = d.Set(d.Labels)
			}
		case "annotations":
			told |= Annotations
			if d.Annotations = w.Value(); !d.Brief {
				m.Annotations = d.Set(d.Annotations)
			}
		case "creationTimestamp":
			told |= Created
			m.CreationTimestamp = instant(w)
		case "deletionTimestamp":
			told |= Deleting
			m.DeletionTimestamp = moment(w)
		case "deletionGracePeriodSeconds":
			m.DeletionGracePeriodSeconds = nil
			if n, ok := Integer(w.Value()); ok {
				m.DeletionGracePeriodSeconds = &n
			}
		case "generation":
			m.Generation = number(w)
		case "finalizers":
			m.Finalizers = nil
			for range w.Elements() {
				m.Finalizers = append(m.Finalizers, d.word(w))
			}
		case "ownerReferences":
			told |= Owners
			m.OwnerReferences = nil
			for range w.Elements() {
				m.OwnerReferences = append(m.OwnerReferences, d.owner(w))
			}
		default:
			w.Value()
		}
	}
	return told
}

func (d *Decoder) owner(w *rawjson.Walker) (o metav1.OwnerReference) {
	for name := range w.Members() {
		if string(name) == "kind" {
			o.Kind = d.word(w)
		} else {
			w.Value()
		}
	}
	return o
}

// Set returns labels or annotations, which all pods of a workload share.
func (d *Decoder) Set(raw []byte) map[string]string { return share(&d.sets, raw, d.Words.Texts) }

// Merge returns what a patch makes of a map of strings, which stays as it is.
func (d *Decoder) Merge(m map[string]string, patch []byte) map[string]string {
	if !rawjson.IsObject(patch) {
		return nil
	}
	merged := make(map[string]string, len(m)+1)
	for name, value := range m {
		merged[name] = value
	}
	for name, value := range rawjson.Members(patch) {
		key, _ := d.Words.Name(name)
		if string(value) == "null" {
			delete(merged, key)
		} else {
			merged[key], _ = d.Words.Text(value)
		}
	}
	return merged
}
