package live

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/wait"
	eventutil "k8s.io/client-go/tools/record/util"
	"k8s.io/client-go/tools/reference"

	"github.com/nodesim/nodesim/internal/apischeme"
	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/scenarios"
)

// seriesTries is the number of attempts at one write of an Event, seriesPause the time between two
// (tools/events/event_broadcaster.go of client-go).
const (
	seriesTries = 12
	seriesPause = 10 * time.Second
)

// A seriesRecorder writes Events of events.k8s.io as the recorder of client-go's tools/events does, which links the clients
// of every group: what is said again is a series of the first Event, whose second time is written at once. How often it
// is said from then on is written by client-go every 30 minutes, or 6 minutes after the last time, which no live run
// lasts. A write that the API server refuses is given up, one that didn't reach it is tried again.
type seriesRecorder struct {
	ctx     context.Context
	client  kubeclient.EventsV1
	host    string
	writing sync.WaitGroup

	mu   sync.Mutex
	said map[seriesKey]*eventsv1.Event
}

// A seriesKey identifies a series: its fields are equal in all Events of one.
type seriesKey struct {
	kind, action, reason, controller string
	regarding                        corev1.ObjectReference
}

func newSeriesRecorder(ctx context.Context, client kubeclient.EventsV1) *seriesRecorder {
	host, _ := os.Hostname()
	return &seriesRecorder{ctx: ctx, client: client, host: host, said: map[seriesKey]*eventsv1.Event{}}
}

// record writes an Event, later. What it is about has to be of a kind that the scheme knows.
func (r *seriesRecorder) record(e scenarios.Report) {
	regarding, err := reference.GetReference(apischeme.Scheme(), &e.About)
	if err != nil {
		return
	}
	now := time.Now()
	namespace := regarding.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	event := r.next(seriesKey{e.Type, e.Action, e.Reason, e.Component, *regarding}, &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: eventutil.GenerateEventName(regarding.Name, now.UnixNano()), Namespace: namespace},
		EventTime:  metav1.NewMicroTime(now), ReportingController: e.Component, ReportingInstance: e.Component + "-" + r.host,
		Action: e.Action, Reason: e.Reason, Regarding: *regarding, Note: e.Message, Type: e.Type,
	})
	if event != nil {
		r.writing.Go(func() { r.write(event) })
	}
}

// next returns what to write of an Event: itself, its series, or nil where the server has it already.
func (r *seriesRecorder) next(key seriesKey, event *eventsv1.Event) *eventsv1.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.said[key]
	switch {
	case first == nil:
		r.said[key] = event
		return event.DeepCopy()
	case first.Series == nil:
		first.Series = &eventsv1.EventSeries{Count: 2, LastObservedTime: event.EventTime}
		return first.DeepCopy()
	}
	first.Series.Count++
	first.Series.LastObservedTime = event.EventTime
	return nil
}

// write tries until the API server has taken or refused it.
func (r *seriesRecorder) write(event *eventsv1.Event) {
	for range seriesTries {
		if r.attempt(event) {
			return
		}
		select {
		case <-r.ctx.Done():
			return
		case <-time.After(wait.Jitter(seriesPause, 0.25)):
		}
	}
}

// attempt writes once, and says whether that is the end of it.
func (r *seriesRecorder) attempt(event *eventsv1.Event) (done bool) {
	events := r.client.Events(event.Namespace)
	var err error
	if event.Series != nil {
		patch, failed := seriesPatch(event)
		if failed != nil {
			return true
		}
		_, err = events.Patch(r.ctx, event.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	}
	if event.Series == nil || apierrors.IsNotFound(err) {
		event.ResourceVersion = ""
		_, err = events.Create(r.ctx, event, metav1.CreateOptions{})
	}
	if apierrors.IsAlreadyExists(err) {
		return event.Series == nil // the first one of the series was written after the patch
	}
	return err == nil || !passing(err)
}

func seriesPatch(event *eventsv1.Event) ([]byte, error) {
	before := event.DeepCopy()
	before.Series = nil
	old, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	now, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(old, now, eventsv1.Event{})
}

// close waits for the writes under way; the context that they have has to end first.
func (r *seriesRecorder) close() { r.writing.Wait() }
