package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var nodes = schema.GroupResource{Resource: "nodes"}

// Writes of one object stay in order, whatever has to be sent again; a refusal is
// told and lets the next one pass.
func TestWriteQueueKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var did []string
		var warnings int
		c := newWriteQueue(ctx, func(error) { mu.Lock(); warnings++; mu.Unlock() })
		answers := map[string][]error{
			"a1": {errors.New("connection refused"), apierrors.NewTooManyRequestsError("later"), nil},
			"a2": {apierrors.NewConflict(nodes, "a", errors.New("changed")), nil},
			"a3": {apierrors.NewForbidden(nodes, "a", errors.New("no right"))},
			"a4": {nil},
			"b1": {apierrors.NewInternalError(errors.New("etcd")), nil},
			"b2": {nil},
		}
		for _, word := range []string{"a1", "b1", "a2", "a3", "b2", "a4"} {
			c.send(word[:1], word, func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				err := answers[word][0]
				answers[word] = answers[word][1:]
				if err == nil {
					did = append(did, word)
				}
				return err
			})
		}
		if err := c.delivered(t.Context()); err != nil {
			t.Fatal(err)
		}
		cancel()
		c.close()
		var a, b []string
		for _, word := range did {
			if word[0] == 'a' {
				a = append(a, word)
			} else {
				b = append(b, word)
			}
		}
		if !slices.Equal(a, []string{"a1", "a2", "a4"}) || !slices.Equal(b, []string{"b1", "b2"}) {
			t.Errorf("delivered %v and %v", a, b)
		}
		var r Report
		c.count(&r)
		if r.Refused != 1 || r.Retries != 3 || warnings != 4 {
			t.Errorf("refused %d, retries %d, warnings %d: want 1, 3, 4", r.Refused, r.Retries, warnings)
		}
	})
}

// Who waits for a delivery that never comes is let go with the context.
func TestWriteQueueThatIsNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := newWriteQueue(ctx, func(error) {})
		c.send("a", "a", func(context.Context) error { return errors.New("connection refused") })
		late, enough := context.WithTimeout(ctx, deliverMost)
		defer enough()
		if err := c.delivered(late); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
		cancel()
		c.close()
	})
}

// Objects that are waited for keep their own writes back, and nobody else's.
func TestWriteQueueHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := newWriteQueue(ctx, func(err error) { t.Error(err) })
		var mu sync.Mutex
		var did []string
		write := func(key string) {
			c.send(key, key, func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				did = append(did, key)
				return nil
			})
		}
		came, never := make(chan struct{}), make(chan struct{})
		for i := range 2 * writeWorkers {
			key := fmt.Sprint(i)
			c.hold(key, came, never)
			write(key)
			write(key)
		}
		write("other")
		synctest.Wait()
		if !slices.Equal(did, []string{"other"}) {
			t.Errorf("before they have come: delivered %v, want the other alone", did)
		}
		close(came)
		if err := c.delivered(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(did) != 1+4*writeWorkers {
			t.Errorf("delivered %d writes, want %d", len(did), 1+4*writeWorkers)
		}
		c.hold("gone", never, never)
		write("gone")
		cancel()
		c.close()
		var r Report
		if c.count(&r); r.Refused+r.Retries > 0 {
			t.Errorf("a wait counts as a write: %+v", r)
		}
	})
}

// A server that comes back after a long time may answer with an internal error first:
// that is one, not one more of all the errors before. Ten of them are a refusal.
func TestWriteQueueCountsInternalErrors(t *testing.T) {
	internal := apierrors.NewInternalError(errors.New("unexpected EOF"))
	for name, one := range map[string]struct {
		away, internal, refused int
	}{"after an outage": {2 * internalMost, 1, 0}, "for ever": {0, internalMost, 1}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			c := newWriteQueue(ctx, func(error) {})
			fixture := newFixture(ctx, t)
			for key, send := range map[string]func(do func(context.Context) error){
				"a write":  func(do func(context.Context) error) { c.send("a", "a", do) },
				"a custom": func(do func(context.Context) error) { fixture.customResources.enqueue(claims, "a", "create", do, nil) },
			} {
				tries := 0
				send(func(context.Context) error {
					switch tries++; {
					case tries <= one.away:
						return errors.New("connection refused")
					case tries <= one.away+one.internal:
						return internal
					}
					return nil
				})
				if err := errors.Join(c.delivered(t.Context()), fixture.writeQueue.delivered(t.Context())); err != nil {
					t.Fatal(err)
				}
				if want := one.away + one.internal + 1 - one.refused; tries != want {
					t.Errorf("%s %s: %d tries, want %d", key, name, tries, want)
				}
			}
			cancel()
			c.close()
			fixture.writeQueue.close()
			for _, of := range []*writeQueue{c, fixture.writeQueue} {
				var r Report
				if of.count(&r); r.Refused != one.refused {
					t.Errorf("%s: %d refused, want %d", name, r.Refused, one.refused)
				}
			}
			if fixture.customResources.writes(claims) != (one.refused == 0) {
				t.Errorf("%s: the kind is written: %t", name, fixture.customResources.writes(claims))
			}
		})
	}
}
