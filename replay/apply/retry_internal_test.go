package apply

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

// script answers requests one after the other; the last answer forever.
type script struct {
	answers []error
	asked   int
}

func (s *script) do(context.Context, request) ([]byte, error) {
	s.asked++
	return []byte("{}"), s.answers[min(s.asked, len(s.answers))-1]
}

var pod = schema.GroupResource{Resource: "pods"}

func TestWhatIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		story   string
		answers []error
		asked   int
		took    time.Duration
		fails   bool
	}{
		{"nothing", []error{nil}, 1, 0, false},
		{"a refused connection", []error{errors.New("connection refused"), nil}, 2, 100 * time.Millisecond, false},
		{"as late as the server asks", []error{apierrors.NewTooManyRequests("", 7), nil}, 2, 7 * time.Second, false},
		{"longer and longer", []error{
			apierrors.NewServiceUnavailable(""), apierrors.NewTimeoutError("", 0), apierrors.NewServiceUnavailable(""), nil,
		}, 4, 700 * time.Millisecond, false},
		{"not what is wrong with the request", []error{apierrors.NewBadRequest("")}, 1, 0, true},
		{"nor a conflict", []error{apierrors.NewConflict(pod, "web", nil)}, 1, 0, true},
		{"nor what is forbidden", []error{apierrors.NewForbidden(pod, "web", nil)}, 1, 0, true},
		{"an internal error not for ever", []error{apierrors.NewInternalError(errors.New("webhook"))}, internalMost, 21300 * time.Millisecond, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			below := &script{answers: c.answers}
			warned := 0
			s := &retrier{server: below, clock: clock.RealClock{}, warn: func(error) { warned++ }}
			began := time.Now()
			_, err := s.do(t.Context(), request{})
			if (err != nil) != c.fails || below.asked != c.asked || time.Since(began) != c.took {
				t.Errorf("%s: asked %d times in %s, error %v; want %d in %s", c.story, below.asked, time.Since(began), err, c.asked, c.took)
			}
			if warned != c.asked-1 || int(s.made.Load()) != c.asked || int(s.tries.Load()) != warned {
				t.Errorf("%s: warned of %d and counted %d of %d", c.story, warned, s.tries.Load(), s.made.Load())
			}
		})
	}
}

// The context bounds what would continue forever.
func TestTheContextEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		s := &retrier{server: &script{answers: []error{errors.New("connection refused")}}, clock: clock.RealClock{}, warn: func(error) {}}
		if _, err := s.do(ctx, request{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("found error %v", err)
		}
	})
}
