package kube_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// told is what a tape or an API server learns of an event.
type told struct {
	verb, name, message string
	count               int32
}

// realRecorder is client-go's correlator in front of an API server that keeps
// its events for an hour.
type realRecorder struct {
	*record.EventCorrelator
	clock *clocktesting.FakeClock
	lives map[string]time.Time
	told  []told
}

func (r *realRecorder) record(e *corev1.Event) {
	result, err := r.EventCorrelate(e)
	if err != nil || result.Skip {
		return
	}
	name := result.Event.Name
	if result.Event.Count > 1 {
		// recordEvent patches, and creates where there is nothing to patch.
		if written, ok := r.lives[name]; ok && r.clock.Since(written) < time.Hour {
			r.say("patch", result.Event)
			return
		}
	}
	r.say("create", result.Event)
}

func (r *realRecorder) say(verb string, e *corev1.Event) {
	r.lives[e.Name] = r.clock.Now()
	r.told = append(r.told, told{verb, e.Name, e.Message, e.Count})
	r.UpdateState(e)
}

// TestRecorderIsClientGos holds the recorder against the real one under random
// streams of events. The two may differ in which of ten messages is forgotten
// once they are combined; messages of a reason that has so many never come
// again here.
func TestRecorderIsClientGos(t *testing.T) {
	for seed := range uint64(16) {
		rng := rand.New(rand.NewPCG(seed, 1))
		start := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
		clock := clocktesting.NewFakeClock(start)
		theirs := &realRecorder{
			EventCorrelator: record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{Clock: clock}),
			clock:           clock, lives: map[string]time.Time{},
		}
		var now time.Duration
		var ours []told
		counts, messages := map[string]int32{}, map[string]string{}
		s := kube.New(kube.Config{
			Start: kube.InstantOf(start), Now: func() time.Duration { return now }, UID: func() string { return "uid" },
			Sink: func(ev timeline.Event) error {
				var e struct {
					Message string
					Count   int32
				}
				verb := "create"
				switch {
				case ev.Type == timeline.Deleted:
					delete(counts, ev.Name)
					return nil
				case ev.Object != nil:
					if err := json.Unmarshal(ev.Object, &e); err != nil {
						return err
					}
				default:
					e.Message = messages[ev.Name]
					if err := json.Unmarshal(ev.Patch, &e); err != nil {
						return err
					}
				}
				if ev.Type == timeline.Modified {
					verb = "patch"
					if _, ok := counts[ev.Name]; !ok {
						return fmt.Errorf("seed %d: %s is patched and isn't there", seed, ev.Name)
					}
				} else if _, ok := counts[ev.Name]; ok {
					return fmt.Errorf("seed %d: %s is created twice", seed, ev.Name)
				}
				counts[ev.Name], messages[ev.Name] = e.Count, e.Message
				ours = append(ours, told{verb, ev.Name, e.Message, e.Count})
				return nil
			},
			Fail: func(err error) { t.Fatal(err) },
		})
		pace := []time.Duration{time.Second, 20 * time.Second, 3 * time.Minute, 25 * time.Minute}[rng.IntN(4)]
		for i := range 400 {
			now += time.Duration(rng.Int64N(int64(pace))) + 1
			object := fmt.Sprintf("pod-%d", rng.IntN(3))
			kind := []string{"Normal", "Warning"}[rng.IntN(2)]
			reason, message := fmt.Sprintf("Reason%d", rng.IntN(3)), fmt.Sprintf("message %d", rng.IntN(4))
			if rng.IntN(3) == 0 && pace < time.Minute {
				// At a slow pace these would be more than the store remembers.
				reason, message = "Created", fmt.Sprintf("Created pod: %d", i)
			}
			clock.SetTime(start.Add(now))
			now += theirs.nearExpiry()
			clock.SetTime(start.Add(now))
			s.ExpireEvents()
			about := kube.Reference{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "default", Name: object, UID: "u"}
			s.Record(kube.Source{Component: "controller"}, about, kind, reason, message)
			e := &corev1.Event{
				InvolvedObject: corev1.ObjectReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "default", Name: object, UID: "u"},
				Type:           kind, Reason: reason, Message: message, Count: 1, Source: corev1.EventSource{Component: "controller"},
			}
			e.Name, e.Namespace = fmt.Sprintf("%s.%x", object, clock.Now().UnixNano()), "default"
			theirs.record(e)
		}
		if len(ours) != len(theirs.told) {
			t.Errorf("seed %d: %d events, client-go has %d", seed, len(ours), len(theirs.told))
		}
		for i := range min(len(ours), len(theirs.told)) {
			if ours[i] != theirs.told[i] {
				t.Fatalf("seed %d, event %d: %+v, client-go has %+v", seed, i, ours[i], theirs.told[i])
			}
		}
	}
}

// nearExpiry returns how far to go on so that no event is just about an hour
// old: the tape removes them in steps of ten seconds.
func (r *realRecorder) nearExpiry() (skip time.Duration) {
	for again := true; again; {
		again = false
		for name, written := range r.lives {
			age := r.clock.Since(written) + skip
			if age > 2*time.Hour {
				delete(r.lives, name)
			}
			if age > time.Hour-time.Second && age < time.Hour+20*time.Second {
				skip += 21 * time.Second
				again = true
			}
		}
	}
	return skip
}
