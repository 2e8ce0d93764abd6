package live

import (
	"context"
	"errors"
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
func TestCourierKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var did []string
		var warnings int
		c := newCourier(ctx, func(error) { mu.Lock(); warnings++; mu.Unlock() })
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
func TestCourierThatIsNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := newCourier(ctx, func(error) {})
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
