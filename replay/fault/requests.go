package fault

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// Request implements replay.FaultInjector.
func (in *injector) Request(q replay.Request) (a replay.Verdict) {
	in.mu.Lock()
	defer in.mu.Unlock()
	resource, known := in.resourceOf(q)
	if known {
		if a = in.reconnectVerdict(resource, q); a.Err != nil {
			return a
		}
	}
	for _, r := range in.rules {
		if !r.hits() || !r.asks(q) || r.spec.Kind == "stale-list" && q.Verb == "watch" && !begins(q) {
			continue
		}
		t := &r.trigger
		if r.spec.Kind == "intermediate" {
			if t = &r.requests; !in.interrupts(r, q) {
				continue
			}
		}
		if !in.answered(r, t, q) {
			continue
		}
		if r.spec.Kind == "stale-list" {
			a.Version = in.asOf(resource, in.now-r.spec.By)
			continue
		}
		a.Err = refusal(r, q)
		return a
	}
	return a
}

// answered asks a trigger about a request, and logs it.
func (in *injector) answered(r *rule, t *trigger, q replay.Request) bool {
	var which []string // what the random number depends on
	if r.spec.P > 0 {
		which = []string{
			q.Verb, q.Resource.Group, q.Resource.Resource, q.Subresource, q.Namespace, q.Name, q.Options.LabelSelector, q.Options.FieldSelector,
		}
		which = append(which, strconv.FormatUint(uint64(t.nth(which...)), 10))
	}
	if !t.fires(in.now, which...) {
		return false
	}
	in.tell(Fired{At: in.now, Spec: r.given, Resource: q.Resource.GroupResource().String(), Namespace: q.Namespace, Name: q.Name, Verb: q.Verb})
	return true
}

// reconnectVerdict returns what a client meets whose stream was cut.
func (in *injector) reconnectVerdict(r timeline.Resource, q replay.Request) (a replay.Verdict) {
	w := in.reconnectPlans[clientOf(r, q)]
	switch {
	case w == nil:
	case begins(q) && len(w.stale) > 0:
		a.Version, w.stale = w.stale[0], w.stale[1:]
	case q.Verb == "watch" && !begins(q) && w.refuse > 0:
		w.refuse--
		a.Err = apierrors.NewResourceExpired("too old resource version: " + q.Options.ResourceVersion)
	}
	if w != nil && w.refuse == 0 && len(w.stale) == 0 {
		delete(in.reconnectPlans, clientOf(r, q))
	}
	return a
}

// refusal is the error that a rule answers with.
func refusal(r *rule, q replay.Request) error {
	gr := q.Resource.GroupResource()
	switch r.spec.Kind {
	case "409":
		if q.Verb == "create" && q.Subresource == "" {
			return apierrors.NewAlreadyExists(gr, q.Name)
		}
		return apierrors.NewConflict(gr, q.Name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	case "429":
		seconds := int(min(math.Ceil(r.spec.RetryAfter.Seconds()), math.MaxInt32))
		return apierrors.NewTooManyRequests("too many requests, please try again later", seconds)
	case "timeout":
		return apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)
	case "500", "intermediate":
		return apierrors.NewInternalError(errors.New(r.given.String()))
	}
	return apierrors.NewInternalError(fmt.Errorf("%s %s", r.given, unanswered))
}

// unanswered is in the answer of a kind that refusal doesn't know, so that a test finds it.
const unanswered = "has no answer of its own"

// withhold reports whether a watch that opens is to lack the bookmark after its
// initial events.
func (in *injector) withhold(q replay.Request) (some bool) {
	for _, r := range in.rules {
		if r.spec.Kind == "bookmarks" && r.spec.Initial && r.asks(q) && in.answered(r, &r.requests, q) {
			some = true
		}
	}
	return some
}
