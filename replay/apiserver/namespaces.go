package apiserver

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/internal/option"
	"github.com/nodesim/nodesim/timeline"
)

// ImpliedNamespaces serves the namespaces in which the tape's objects live, where the
// tape holds none: Active, and never going. Those that every cluster has are among
// them (pkg/controlplane/controller/systemnamespaces of kubernetes). They have
// versions and a watch of their own, which a rewind doesn't end, and for which
// lock-step doesn't wait for them; faults don't hit them.
func ImpliedNamespaces() Option {
	return option.New("apiserver.ImpliedNamespaces", func(s *settings) { s.namespaces = true })
}

var namespaces = timeline.Resource{Version: "v1", Kind: "Namespace", Resource: "namespaces"}

// system are the namespaces of every cluster.
var system = []string{metav1.NamespaceDefault, corev1.NamespaceNodeLease, metav1.NamespacePublic, metav1.NamespaceSystem}

// implied are the namespaces that the objects of a tape were seen in.
type implied struct {
	cluster *replay.Cluster

	mu   sync.Mutex
	seen map[string]bool
	at   time.Duration // of the last that was added
}

// imply begins to serve the namespaces of what is there and of what will come. It
// returns how to end that.
func (s *Server) imply() (*implied, func(), error) {
	m := &implied{
		cluster: replay.NewCluster(&timeline.Header{Resources: []timeline.Resource{namespaces}}),
		seen:    map[string]bool{},
	}
	start := s.player.Header().Metadata.Start.Time
	// Before the look at what is there, so that nothing is missed in between.
	var waiting []timeline.Event
	listed := false
	stop := s.player.Subscribe(func(n replay.Note) {
		if n.Kind != replay.Applied || !n.Event.Type.Object() || n.Event.Namespace == "" {
			return
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if !listed {
			waiting = append(waiting, timeline.Event{At: n.Event.At, Namespace: n.Event.Namespace})
			return
		}
		m.add(n.Event.Namespace, n.Event.At, start.Add(n.Event.At))
	})
	begun, names, err := s.inhabited()
	if err != nil {
		stop()
		return nil, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if begun.IsZero() || begun.After(start) {
		begun = start
	}
	for _, name := range names {
		m.add(name, 0, begun)
	}
	if _, err := m.cluster.Apply(timeline.Event{Type: timeline.Sync, Resource: namespaces.Resource}); err != nil {
		stop()
		return nil, nil, err
	}
	for _, ev := range waiting {
		m.add(ev.Namespace, ev.At, start.Add(ev.At))
	}
	listed = true
	return m, stop, nil
}

// inhabited returns the namespaces of what is there now and those of every cluster,
// sorted, and since when the oldest node is there: the cluster is as old at least.
func (s *Server) inhabited() (since time.Time, names []string, err error) {
	names = slices.Clone(system)
	for _, r := range s.cluster.Resources() {
		l, err := s.cluster.ListUnfaulted(gvr(r), "", metav1.ListOptions{})
		if err != nil {
			return since, nil, err
		}
		for _, o := range l.Items {
			switch {
			case r.Namespaced:
				if n := o.Namespace(); n != "" && n != names[len(names)-1] { // they come sorted
					names = append(names, n)
				}
			case r.Group == "" && r.Resource == "nodes":
				created, err := time.Parse(time.RFC3339, rawjson.Text(o.Raw(), "metadata", "creationTimestamp"))
				if err == nil && (since.IsZero() || created.Before(since)) {
					since = created
				}
			}
		}
	}
	slices.Sort(names)
	return since, slices.Compact(names), nil
}

// add is called with mu held.
func (m *implied) add(name string, at time.Duration, created time.Time) {
	if m.seen[name] {
		return
	}
	m.seen[name] = true
	m.at = max(m.at, at) // the tape may have gone back
	sum := sha256.Sum256([]byte("namespace " + name))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // a UUID of version 8 (RFC 9562)
	uid := fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	version := fmt.Sprint(len(m.seen))
	raw, err := json.Marshal(&corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: namespaces.Kind},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(uid), ResourceVersion: version, CreationTimestamp: metav1.NewTime(created.UTC().Truncate(time.Second)),
			Labels: map[string]string{corev1.LabelMetadataName: name},
		},
		Spec:   corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	})
	if err != nil {
		return // of a struct of strings and a time there is none
	}
	// A name that the tape has twice, or that goes back in time, isn't possible here.
	_, _ = m.cluster.Apply(timeline.Event{
		At: m.at, Type: timeline.Added, Resource: namespaces.Resource, Name: name, UID: uid, RV: version, Object: raw,
	})
}
