package replay

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/timeline"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// EventError reports an impossible event: the tape claims something that no
// API server does. The state is as it was before the event.
type EventError struct {
	Event timeline.Event
	// Number is the event's place on the tape, counted from one; zero where a
	// Cluster was fed by hand.
	Number int
	// Found and Wanted finish the sentence.
	Found, Wanted string
}

func (e *EventError) Error() string {
	place := "event at " + e.Event.At.String()
	if e.Number > 0 {
		place = fmt.Sprintf("event %d at %s", e.Number, e.Event.At)
	}
	name := e.Event.Name
	if e.Event.Namespace != "" {
		name = e.Event.Namespace + "/" + name
	}
	return fmt.Sprintf("%s: %s %s %q: %s: want %s", place, e.Event.Type, e.Event.Resource, name, e.Found, e.Wanted)
}

func expired(v, floor string) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %s (%s)", v, floor))
}

// continueExpired returns what etcd3/errors.go of k8s.io/apiserver answers when a
// list can't be continued at its version; the token in it continues with what is
// there now.
func continueExpired(token string) error {
	err := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to " +
		"retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - " +
		"objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	err.ErrStatus.Continue = token
	return err
}

// tooLarge is storage.NewTooLargeResourceVersionError of k8s.io/apiserver. The watch cache asks for another try in a
// second, etcd for none.
func (k *kind) tooLarge(v, current string) error {
	retry := 1
	if k.uncached() {
		retry = 0
	}
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %s, current: %s", v, current), retry)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}

// badVersion returns what a list answers of a version that is no integer below 2^64 (etcd3/store.go and
// storage/api_object_versioner.go of k8s.io/apiserver). For a get or a watch kube-apiserver makes a 500 of it.
func badVersion(v string) error {
	_, err := strconv.ParseUint(v, 10, 64)
	return apierrors.NewBadRequest(fmt.Sprintf("invalid resource version: resourceVersion: Invalid value: %q: %v", v, err))
}

// unknownResource is the 404 of a path that no API server serves.
func unknownResource(gvr schema.GroupVersionResource) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "get", gvr.GroupResource(), "", "", 0, true)
}

func asStatus(err error) *metav1.Status {
	if s, ok := err.(apierrors.APIStatus); ok {
		status := s.Status()
		return &status
	}
	status := apierrors.NewInternalError(err).Status()
	return &status
}

// seconds prints a position as the tape does.
func seconds(d time.Duration) string { return fmt.Sprintf("%gs", d.Seconds()) }
