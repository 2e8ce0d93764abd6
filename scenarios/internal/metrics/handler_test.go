package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"k8s.io/utils/ptr"
)

var at = metav1.NewTime(time.Date(2026, 11, 20, 22, 21, 0, 0, time.UTC))

func used() (*statsv1alpha1.CPUStats, *statsv1alpha1.MemoryStats) {
	return &statsv1alpha1.CPUStats{Time: at, UsageNanoCores: ptr.To(uint64(120_000_000))}, &statsv1alpha1.MemoryStats{WorkingSetBytes: ptr.To(uint64(64 << 20))}
}

func podStats(namespace, name string) statsv1alpha1.PodStats {
	cpu, memory := used()
	return statsv1alpha1.PodStats{
		PodRef:     statsv1alpha1.PodReference{Namespace: namespace, Name: name},
		Containers: []statsv1alpha1.ContainerStats{{Name: "app", CPU: cpu, Memory: memory}, {Name: "starting"}},
	}
}

// shop is two nodes, one of which says nothing of itself, and three pods.
func shop() Source {
	cpu, memory := used()
	return Source{
		Summaries: func(context.Context) ([]*statsv1alpha1.Summary, error) {
			return []*statsv1alpha1.Summary{
				{Node: statsv1alpha1.NodeStats{NodeName: "b", CPU: cpu, Memory: memory}, Pods: []statsv1alpha1.PodStats{podStats("shop", "web-1"), podStats("shop", "web-0")}},
				{Node: statsv1alpha1.NodeStats{NodeName: "a", CPU: cpu, Memory: memory}, Pods: []statsv1alpha1.PodStats{podStats("other", "db-0")}},
				{Node: statsv1alpha1.NodeStats{NodeName: "c"}, Pods: []statsv1alpha1.PodStats{{}}},
			}, nil
		},
		Nodes: func(context.Context) ([]*corev1.Node, error) {
			return []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"zone": "1"}}}}, nil
		},
		Pods: func(context.Context) ([]*corev1.Pod, error) {
			return []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", Labels: map[string]string{"app": "web"}}}}, nil
		},
	}
}

func TestLists(t *testing.T) {
	for path, want := range map[string][]string{
		"/nodes":                        {"NodeMetricsList", "a", "b"},
		"/nodes?labelSelector=zone%3D1": {"NodeMetricsList", "a"},
		"/nodes?fieldSelector=metadata.name!%3Da": {"NodeMetricsList", "b"},
		"/nodes/b":              {"NodeMetrics", "b"},
		"/pods":                 {"PodMetricsList", "db-0", "web-0", "web-1"},
		"/namespaces/shop/pods": {"PodMetricsList", "web-0", "web-1"},
		"/namespaces/shop/pods?labelSelector=app":        {"PodMetricsList", "web-0"},
		"/pods?fieldSelector=metadata.namespace%3Dother": {"PodMetricsList", "db-0"},
		"/namespaces/none/pods":                          {"PodMetricsList"},
		"/namespaces/shop/pods/web-1":                    {"PodMetrics", "web-1"},
	} {
		w := httptest.NewRecorder()
		Handler(shop()).ServeHTTP(w, httptest.NewRequest("GET", versionPath+path, nil))
		var answer struct {
			metav1.TypeMeta
			metav1.ObjectMeta `json:"metadata"`
			Items             []struct {
				metav1.ObjectMeta `json:"metadata"`
			} `json:"items"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		got := []string{answer.Kind}
		if answer.Name != "" {
			got = append(got, answer.Name)
		}
		for _, item := range answer.Items {
			got = append(got, item.Name)
		}
		if w.Code != 200 || answer.APIVersion != "metrics.k8s.io/v1beta1" || !slices.Equal(got, want) {
			t.Errorf("%s: %d %s %v, want 200 metrics.k8s.io/v1beta1 %v", path, w.Code, answer.APIVersion, got, want)
		}
	}
}

func TestValues(t *testing.T) {
	w := httptest.NewRecorder()
	Handler(shop()).ServeHTTP(w, httptest.NewRequest("GET", versionPath+"/namespaces/shop/pods/web-0", nil))
	var got v1beta1.PodMetrics
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Containers) != 1 || got.Containers[0].Usage.Cpu().String() != "120m" || got.Containers[0].Usage.Memory().String() != "64Mi" ||
		!got.Timestamp.Equal(&at) || got.Window.Duration != 15*time.Second || got.Labels["app"] != "web" {
		t.Errorf("%+v, want app with 120m and 64Mi at %v in 15s", got, at)
	}
}

func TestDiscovery(t *testing.T) {
	var found metav1.APIGroup
	var known metav1.APIResourceList
	for path, into := range map[string]any{groupPath: &found, versionPath: &known} {
		w := httptest.NewRecorder()
		Handler(shop()).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil || w.Code != 200 {
			t.Fatal(w.Code, err)
		}
	}
	if found.Name != "metrics.k8s.io" || found.PreferredVersion.GroupVersion != "metrics.k8s.io/v1beta1" ||
		len(known.APIResources) != 2 || known.APIResources[0].Kind != "NodeMetrics" || !known.APIResources[1].Namespaced {
		t.Errorf("%+v\n%+v", found, known)
	}
}

func TestRefusals(t *testing.T) {
	broken := shop()
	broken.Summaries = func(context.Context) ([]*statsv1alpha1.Summary, error) { return nil, errors.New("no summaries") }
	for _, c := range []struct {
		source       Source
		method, path string
		status       int
		message      string
	}{
		{shop(), "GET", versionPath + "/nodes/c", 404, `nodes.metrics.k8s.io "c" not found`},
		{shop(), "GET", versionPath + "/namespaces/shop/pods/db-0", 404, `pods.metrics.k8s.io "shop/db-0" not found`},
		{shop(), "GET", "/apis/metrics.k8s.io/v2", 404, "the server could not find the requested resource"},
		{shop(), "GET", versionPath + "/nodes?labelSelector=%3D", 400, "labelSelector: found '=', expected: !, identifier, or 'end of string'"},
		{shop(), "GET", versionPath + "/pods?fieldSelector=spec.nodeName%3Da", 400, "field label not supported: spec.nodeName"},
		{broken, "GET", versionPath + "/nodes", 500, "Internal error occurred: metrics of nodes: no summaries"},
		{broken, "GET", versionPath + "/pods", 500, "Internal error occurred: metrics of pods: no summaries"},
		{broken, "GET", versionPath + "/nodes/a", 500, "Internal error occurred: metrics of nodes: no summaries"},
		{broken, "GET", versionPath + "/namespaces/shop/pods/web-0", 500, "Internal error occurred: metrics of pods: no summaries"},
	} {
		w := httptest.NewRecorder()
		Handler(c.source).ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		var answer metav1.Status
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != c.status || answer.Kind != "Status" || answer.Message != c.message {
			t.Errorf("%s: %d %s %q, %v, want %d Status %q", c.path, w.Code, answer.Kind, answer.Message, err, c.status, c.message)
		}
	}
}
