package noderoll_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/noderoll"
)

// streamServer is the least API server that an informer of today accepts: it
// streams the initial list, ends it with an annotated bookmark (KEP-3157), and
// then what it is told to.
type streamServer struct {
	t       *testing.T
	initial map[string][]runtime.Object
	ends    map[string]runtime.Object // of the watched kind, for the bookmark
	later   map[string]chan metav1.WatchEvent
	quit    chan struct{}

	mu      sync.Mutex
	queries []string
}

func (s *streamServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource := path.Base(r.URL.Path)
	s.mu.Lock()
	s.queries = append(s.queries, resource+" "+r.URL.Query().Get("labelSelector")+r.URL.Query().Get("fieldSelector"))
	s.mu.Unlock()
	if r.URL.Query().Get("watch") == "" || r.URL.Query().Get("sendInitialEvents") != "true" {
		http.Error(w, "only streams here", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	out := json.NewEncoder(w)
	send := func(e metav1.WatchEvent) {
		if err := out.Encode(e); err == nil {
			w.(http.Flusher).Flush()
		}
	}
	for _, o := range s.initial[resource] {
		send(metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Object: o}})
	}
	send(metav1.WatchEvent{Type: "BOOKMARK", Object: runtime.RawExtension{Object: s.ends[resource]}})
	for {
		select {
		case e := <-s.later[resource]:
			send(e)
		case <-r.Context().Done():
			return
		case <-s.quit:
			return
		}
	}
}

// stamped gives an object a version and, for a bookmark, the annotation.
func stamped[T metav1.Object](o T, version string, end bool) T {
	o.SetResourceVersion(version)
	if end {
		o.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return o
}

func TestInformersAgainstAStreamingServer(t *testing.T) {
	t.Parallel()
	kind := func(k string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: "v1", Kind: k} }
	typed := func(n *corev1.Node, version string) *corev1.Node {
		n.TypeMeta = kind("Node")
		return stamped(n, version, false)
	}
	s := &streamServer{
		t: t,
		initial: map[string][]runtime.Object{"nodes": {
			typed(cordoned(kubeNode("ip-1", oldImage, true)), "1"), typed(kubeNode("ip-2", newImage, false), "2"),
		}},
		ends: map[string]runtime.Object{
			"nodes":  stamped(&corev1.Node{TypeMeta: kind("Node")}, "9", true),
			"pods":   stamped(&corev1.Pod{TypeMeta: kind("Pod")}, "9", true),
			"events": stamped(&corev1.Event{TypeMeta: kind("Event")}, "9", true),
		},
		later: map[string]chan metav1.WatchEvent{"nodes": make(chan metav1.WatchEvent), "pods": make(chan metav1.WatchEvent), "events": make(chan metav1.WatchEvent)},
		quit:  make(chan struct{}),
	}
	for i, o := range podsOfEveryKind() {
		pod := stamped(o.(*corev1.Pod), string(rune('3'+i)), false)
		pod.TypeMeta = kind("Pod")
		s.initial["pods"] = append(s.initial["pods"], pod)
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	defer close(s.quit)
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: srv.URL, QPS: -1}, srv.Client())
	if err != nil {
		t.Fatal(err)
	}

	o := noderoll.NewKubeObserver(client, group, newImage)
	if err := o.StartInformers(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer o.StopInformers()
	if got, want := brief(look(t, o)), "[2 0 1 1] ip-1=Draining,3/3 ip-2=Joining,0/0"; got != want {
		t.Errorf("after the initial stream: %s, want %s", got, want)
	}
	s.later["pods"] <- metav1.WatchEvent{Type: "DELETED", Object: runtime.RawExtension{Object: s.initial["pods"][0]}}
	s.later["nodes"] <- metav1.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Object: typed(kubeNode("ip-2", newImage, true), "10")}}
	eventually(t, o, "an eviction and a new node", func(snap noderoll.Snapshot) bool {
		return brief(snap) == "[2 1 1 0] ip-1=Draining,2/3 ip-2=Ready,0/0"
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, want := range []string{"nodes eks.amazonaws.com/nodegroup=workers", "pods ", "events type=Warning"} {
		found := 0
		for _, q := range s.queries {
			if q == want {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%d requests for %q, want one; all: %q", found, want, s.queries)
		}
	}
}
