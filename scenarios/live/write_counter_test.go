package live

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// reached connects to a server that answers writes in a way of its own.
func reached(t *testing.T, write http.HandlerFunc) *clients {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/version":
			_, _ = w.Write([]byte(`{"major": "1", "minor": "36"}`))
		case r.Method == http.MethodGet:
			_, _ = w.Write([]byte(`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "uid": "1"}}`))
		default:
			write(w, r)
		}
	}))
	t.Cleanup(server.Close)
	p := &Runner{config: &rest.Config{Host: server.URL}, clock: clock.RealClock{}, warn: func(error) {}}
	c, err := p.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

func answer(w http.ResponseWriter, s metav1.Status) {
	s.Kind, s.APIVersion = "Status", "v1"
	w.WriteHeader(int(s.Code))
	_ = json.NewEncoder(w).Encode(s)
}

// A write is what the server has taken, and not a queued one that found nothing to write.
func TestCountsWhatWasWritten(t *testing.T) {
	node := func(name string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "1"}}
	}
	labelled := func(name string) *corev1.Node {
		n := node(name)
		n.Labels = map[string]string{"new": "yes"}
		return n
	}
	replaced := labelled("replaced")
	replaced.UID, replaced.Spec.Taints = "2", []corev1.Taint{{Key: "own", Effect: corev1.TaintEffectNoSchedule}}
	for what, c := range map[string]struct {
		write            func(*apiServer)
		written, refused int
	}{
		"a patch":                  {func(w *apiServer) { w.WriteNode(node("a"), labelled("a")) }, 1, 0},
		"an empty patch":           {func(w *apiServer) { w.WriteNode(node("a"), node("a")) }, 0, 0},
		"of a node that is gone":   {func(w *apiServer) { w.WriteNode(node("gone"), labelled("gone")) }, 0, 0},
		"of another of its name":   {func(w *apiServer) { w.WriteNode(node("replaced"), replaced) }, 0, 0},
		"one that isn't allowed":   {func(w *apiServer) { w.WriteNode(node("forbidden"), labelled("forbidden")) }, 0, 1},
		"a deletion":               {func(w *apiServer) { w.DeleteNode("a", "1") }, 1, 0},
		"a deletion of what went":  {func(w *apiServer) { w.DeleteNode("gone", "1") }, 0, 0},
		"what waits for a kubelet": {func(w *apiServer) { w.writeQueue.send("a", "wait", func(context.Context) error { return nil }) }, 0, 0},
	} {
		t.Run(what, func(t *testing.T) {
			clients := reached(t, func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/api/v1/nodes/gone":
					answer(w, apierrors.NewNotFound(nodes, "gone").ErrStatus)
				case "/api/v1/nodes/forbidden":
					answer(w, apierrors.NewForbidden(nodes, "forbidden", errors.New("no right")).ErrStatus)
				default:
					_, _ = w.Write([]byte(`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "uid": "1"}}`))
				}
			})
			ctx, cancel := context.WithCancel(t.Context())
			w := &apiServer{client: clients.kube, writeQueue: newWriteQueue(ctx, func(error) {})}
			c.write(w)
			if err := w.writeQueue.delivered(t.Context()); err != nil {
				t.Error(err)
			}
			cancel()
			w.writeQueue.close()
			var r Report
			w.writeQueue.count(&r)
			if r.Written != c.written || r.Refused != c.refused {
				t.Errorf("written %d, refused %d: want %d, %d", r.Written, r.Refused, c.written, c.refused)
			}
		})
	}
}

// Denied is what a budget doesn't allow, and nothing else that the server answers.
func TestCountsWhatBudgetsDeny(t *testing.T) {
	budget := apierrors.NewTooManyRequests("Cannot evict pod", 0).ErrStatus
	budget.Details.Causes = append(budget.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause})
	pods := nodes
	pods.Resource = "pods"
	for what, c := range map[string]struct {
		answer          metav1.Status
		granted, denied int
	}{
		"granted":         {metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated}, 1, 0},
		"by a budget":     {budget, 0, 1},
		"by fairness":     {apierrors.NewTooManyRequests("too many requests", 0).ErrStatus, 0, 0},
		"without a right": {apierrors.NewForbidden(pods, "web-0", errors.New("no right")).ErrStatus, 0, 0},
		"by a fault":      {apierrors.NewInternalError(errors.New("etcd")).ErrStatus, 0, 0},
		"gone":            {apierrors.NewNotFound(pods, "web-0").ErrStatus, 0, 0},
	} {
		t.Run(what, func(t *testing.T) {
			clients := reached(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, c.answer) })
			w := &apiServer{ctx: t.Context(), client: clients.kube}
			err := w.Evict(types.NamespacedName{Namespace: "shop", Name: "web-0"}, "1")
			if w.evictions != c.granted || w.denied != c.denied || (err == nil) != (c.granted == 1 || what == "gone") {
				t.Errorf("granted %d, denied %d, error %v: want %d, %d", w.evictions, w.denied, err, c.granted, c.denied)
			}
		})
	}
}

// The slowest write is one that the server has taken, measured from its request to its answer.
func TestSlowestWrite(t *testing.T) {
	var handled time.Duration
	refused := true
	c := reached(t, func(w http.ResponseWriter, _ *http.Request) {
		began := time.Now()
		if refused {
			answer(w, metav1.Status{Status: "Failure", Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden})
			return
		}
		body := []byte(`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "uid": "1"}}`)
		handled = time.Since(began)
		_, _ = w.Write(body)
	})
	nodes := c.kube.CoreV1().Nodes()
	if _, err := nodes.Create(t.Context(), &corev1.Node{}, metav1.CreateOptions{}); err == nil || c.slowest.time() != 0 {
		t.Errorf("found %s after a read and a write that was refused with %v, want none", c.slowest.time(), err)
	}
	refused = false
	if _, err := nodes.Create(t.Context(), &corev1.Node{}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	most := c.slowest.time()
	if most < handled || most == 0 {
		t.Errorf("found %s, want at least the %s that the server took", most, handled)
	}
	c.slowest.took(most / 2)
	if c.slowest.time() != most {
		t.Errorf("found %s after a faster write, want %s still", c.slowest.time(), most)
	}
	c.slowest.restart()
	if c.slowest.time() != 0 {
		t.Error("found a time after the restart")
	}
}
