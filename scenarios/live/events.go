package live

import (
	"context"
	"hash/fnv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	"github.com/nodesim/nodesim/internal/apischeme"
	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/scenarios"
)

// reporters is the number of broadcasters that share the Events: each writes them in sequence, queues up to a
// thousand, and remembers as many for aggregation as that of one kubelet, 4,096 (tools/record/events_cache.go,
// maxLruCacheEntries). An Event costs a kilobyte for as long as it is remembered, so that of ten thousand pods all
// Events together would outweigh the pods.
const reporters = 4

// A reporter writes Events as the components would: through client-go's recorders
// and their correlator, one recorder a component and host. Those of one host go
// through one broadcaster, in order.
type reporter struct {
	ctx    context.Context
	client kubeclient.Interface
	older  [reporters]record.EventBroadcaster
	newer  *seriesRecorder // of Events in the form of events.k8s.io

	mu        sync.Mutex
	recorders map[corev1.EventSource]record.EventRecorder
	sink      *sink
}

// newReporter starts to record, until close. What a correlator lets through in a
// time is divided by the scenario's speed as its other times are.
func newReporter(ctx context.Context, client kubeclient.Interface, speed float64) *reporter {
	r := &reporter{
		ctx: ctx, client: client, recorders: map[corev1.EventSource]record.EventRecorder{},
		sink: &sink{ctx: ctx, client: client}, newer: newSeriesRecorder(ctx, client.EventsV1()),
	}
	// As NewEventCorrelatorWithOptions of tools/record has it at speed 1: an Event
	// every five minutes, ten minutes for alike ones.
	limits := record.CorrelatorOptions{
		QPS: float32(speed / 300), MaxIntervalInSeconds: max(1, int(600/speed)),
	}
	for i := range r.older {
		r.older[i] = record.NewBroadcaster(record.WithContext(ctx), record.WithCorrelatorOptions(limits))
		r.older[i].StartRecordingToSink(r.sink)
	}
	return r
}

// close ends it; what waits is dropped.
func (r *reporter) close() {
	for _, b := range r.older {
		b.Shutdown()
	}
	r.newer.close()
}

// record writes one Event. It may be called from any goroutine.
func (r *reporter) record(e scenarios.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	about := e.About
	if e.Action != "" {
		r.newer.record(e)
		return
	}
	r.recorder(corev1.EventSource{Component: e.Component, Host: e.Host}).Event(&about, e.Type, e.Reason, e.Message)
}

func (r *reporter) recorder(from corev1.EventSource) record.EventRecorder {
	if made := r.recorders[from]; made != nil {
		return made
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(from.Host)) // never fails
	made := r.older[h.Sum32()%reporters].NewRecorder(apischeme.Scheme(), from)
	r.recorders[from] = made
	return made
}

// A sink is record.EventSink over a client whose requests end with the live run.
type sink struct {
	ctx    context.Context
	client kubeclient.Interface
}

func (s *sink) Create(e *corev1.Event) (*corev1.Event, error) {
	return s.client.CoreV1().Events(e.Namespace).Create(s.ctx, e, metav1.CreateOptions{FieldManager: fieldManager})
}

func (s *sink) Update(e *corev1.Event) (*corev1.Event, error) {
	return s.client.CoreV1().Events(e.Namespace).Update(s.ctx, e, metav1.UpdateOptions{FieldManager: fieldManager})
}

func (s *sink) Patch(e *corev1.Event, patch []byte) (*corev1.Event, error) {
	return s.client.CoreV1().Events(e.Namespace).Patch(s.ctx, e.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
}
