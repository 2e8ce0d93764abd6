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
	if x != nil && alikeSubsets(rawjson.Get(x.text, "subsets"), subsets) && maps.Equal(labelsOf(x.text), labels) {
		return
	}
	notes := annotations(trigger)
	if over {
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
	c.patch(x, merged(x.text, map[string]any{"metadata": map[string]any{"labels": labels, "annotations": notes}, "subsets": subsets}))
}

// annotations say what change is answered, where that is known.
func annotations(trigger time.Time) map[string]string {
	notes := map[string]string{}
	if !trigger.IsZero() {
		notes[corev1.EndpointsLastChangeTriggerTime] = trigger.Format(time.RFC3339Nano)
	}
	return notes
}

// merged is a merge patch that gives an object these labels, annotations and lists, and no others.
func merged(text []byte, want map[string]any) []byte {
	meta := want["metadata"].(map[string]any)
	for _, name := range []string{"labels", "annotations"} {
		now := map[string]any{}
		for key := range rawjson.Members(rawjson.Get(text, "metadata", name)) {
			now[string(key)] = nil
		}
		want := meta[name].(map[string]string)
		for key, value := range want {
			now[key] = value
		}
		if meta[name] = now; len(want) == 0 {
			meta[name] = nil
		}
	}
	return marshal(want)
}

func labelsOf(text []byte) (labels map[string]string) {
	_ = json.Unmarshal(rawjson.Get(text, "metadata", "labels"), &labels) // as the API server has them
	return labels
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
