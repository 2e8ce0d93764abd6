package objects

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/rawjson"
)

const (
	// managedBy says who writes Endpoints (LabelManagedBy and ControllerName of
	// pkg/controller/endpoint/endpoints_controller.go).
	managedBy          = "endpoints.kubernetes.io/managed-by"
	endpointController = "endpoint-controller"
	// mostAddresses is how many Endpoints hold (maxCapacity there).
	mostAddresses = 1000
)

// writeEndpoints writes the Endpoints of a Service.
func (c *services) writeEndpoints(s *service, places []place, trigger time.Time) {
	subsets, over := subsetsOf(s, places)
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	if delete(labels, corev1.IsHeadlessService); headless(s.Service) {
		labels[corev1.IsHeadlessService] = ""
	}
	labels[managedBy] = endpointController
	x := c.Get("endpoints", s.Namespace, s.Name)
	if x != nil && alikeSubsets(rawjson.Get(x.text, "subsets"), subsets) && maps.Equal(stringsOf(x.text, "metadata", "labels"), labels) {
		return
	}
	var now []byte
	if x != nil {
		now = x.text
	}
	notes := annotated(now, trigger)
	if delete(notes, corev1.EndpointsOverCapacity); over {
		notes[corev1.EndpointsOverCapacity] = "truncated"
	}
	if x == nil {
		c.create("endpoints", c.stream.UUID(), &corev1.Endpoints{ //nolint:staticcheck // SA1019: the controller writes them
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Endpoints"},
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, Labels: labels, Annotations: notes},
			Subsets:    subsets,
		})
		return
	}
	c.patch(x, marshal(map[string]any{
		"metadata": map[string]any{"labels": replacing(now, labels, "metadata", "labels"), "annotations": replacing(now, notes, "metadata", "annotations")},
		"subsets":  subsets,
	}))
}

// annotated are the annotations of an object, with the time of the change that is answered, where that is known
// (addTriggerTimeAnnotation of k8s.io/endpointslice/reconciler.go, syncService of
// pkg/controller/endpoint/endpoints_controller.go).
func annotated(text []byte, trigger time.Time) map[string]string {
	notes := stringsOf(text, "metadata", "annotations")
	if notes == nil {
		notes = map[string]string{}
	}
	if delete(notes, corev1.EndpointsLastChangeTriggerTime); !trigger.IsZero() {
		notes[corev1.EndpointsLastChangeTriggerTime] = trigger.Format(time.RFC3339Nano)
	}
	return notes
}

// replacing is a merge patch of the map at a path of an object that leaves it with these members, and no others.
func replacing(text []byte, want map[string]string, path ...string) map[string]any {
	if len(want) == 0 {
		return nil
	}
	patch := map[string]any{}
	for key := range rawjson.Members(rawjson.Get(text, path...)) {
		patch[string(key)] = nil
	}
	for key, value := range want {
		patch[key] = value
	}
	return patch
}

// stringsOf is the map of strings at a path of an object.
func stringsOf(text []byte, path ...string) (is map[string]string) {
	_ = json.Unmarshal(rawjson.Get(text, path...), &is) // as the API server has it
	return is
}

// compact is JSON as it is compared.
func compact(text []byte) []byte {
	out, err := rawjson.Compact(nil, text)
	if err != nil {
		return nil
	}
	return out
}

// alikeSubsets reports whether subsets are those of an object.
func alikeSubsets(had []byte, subsets []corev1.EndpointSubset) bool { //nolint:staticcheck // SA1019: the controller writes them
	if len(subsets) == 0 {
		return had == nil || string(had) == "null" || string(had) == "[]"
	}
	return bytes.Equal(compact(had), compact(marshal(subsets)))
}

// subsetsOf groups addresses by the ports that they have (RepackSubsets of pkg/api/v1/endpoints/util.go). over says
// that there are too many: those that aren't ready go first.
func subsetsOf(s *service, places []place) (subsets []corev1.EndpointSubset, over bool) { //nolint:staticcheck // SA1019: as above
	places = slices.DeleteFunc(slices.Clone(places), func(p place) bool {
		return p.pod.Terminating() && !s.Spec.PublishNotReadyAddresses || len(p.ports) == 0 && (len(s.Spec.Ports) > 0 || s.Spec.ClusterIP != corev1.ClusterIPNone)
	})
	isReady := func(p *place) bool { return p.pod.Ready() || s.Spec.PublishNotReadyAddresses }
	if over = len(places) > mostAddresses; over {
		slices.SortStableFunc(places, func(a, b place) int {
			switch {
			case isReady(&a) == isReady(&b):
				return 0
			case isReady(&a):
				return -1
			}
			return 1
		})
		places = places[:mostAddresses]
	}
	slices.SortStableFunc(places, func(a, b place) int { return strings.Compare(a.pod.PodIP, b.pod.PodIP) })
	byPorts := map[string]int{}
	for i := range places {
		p := &places[i]
		node := p.pod.NodeName
		at := corev1.EndpointAddress{IP: p.pod.PodIP, Hostname: p.host(s), NodeName: &node, TargetRef: p.reference()}
		n, has := byPorts[key(p.ports)]
		if !has {
			n = len(subsets)
			byPorts[key(p.ports)] = n
			subsets = append(subsets, corev1.EndpointSubset{Ports: p.ports}) //nolint:staticcheck // SA1019: as above
		}
		if one := &subsets[n]; isReady(p) {
			one.Addresses = append(one.Addresses, at)
		} else {
			one.NotReadyAddresses = append(one.NotReadyAddresses, at)
		}
	}
	return subsets, over
}
