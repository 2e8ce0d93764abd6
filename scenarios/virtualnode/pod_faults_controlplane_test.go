//go:build controlplane

package virtualnode_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

// A rejectingTransport answers the first writes of a client itself.
type rejectingTransport struct {
	next http.RoundTripper
	code int
	left atomic.Int32
	met  atomic.Int32
}

func (b *rejectingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || b.left.Add(-1) < 0 {
		return b.next.RoundTrip(r)
	}
	b.met.Add(1)
	body := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"` + map[int]string{
		http.StatusConflict: "Conflict", http.StatusTooManyRequests: "TooManyRequests",
		http.StatusInternalServerError: "InternalError", http.StatusServiceUnavailable: "ServiceUnavailable",
	}[b.code] + `","code":` + strconv.Itoa(b.code) + `}`
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return &http.Response{
		StatusCode: b.code, Status: strconv.Itoa(b.code) + " " + http.StatusText(b.code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(body)), Request: r,
	}, nil
}

// Every answer that a busy or broken API server may give to the first writes.
func TestFaultyAnswersOfARealAPIServer(t *testing.T) {
	for _, code := range []int{
		http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
	} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			g := newGround(t)
			b := &rejectingTransport{code: code}
			b.left.Store(5)
			config := g.cluster.Config()
			config.Wrap(func(next http.RoundTripper) http.RoundTripper { b.next = next; return b })
			g.run(config, nil).ready()
			g.create("web")
			g.running("web")
			b.left.Store(5)
			if err := g.admin.CoreV1().Pods(g.namespace).Delete(g.ctx, "web", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if code == http.StatusConflict { // to a deletion it says that the pod is another one: it is believed, and it isn't
				b.left.Store(0)
			}
			g.gone("web")
			if n := b.met.Load(); n < 5 {
				t.Errorf("%d faulty answers: want at least 5", n)
			}
		})
	}
}

func TestStatusOutlivesARestartOfTheAPIServer(t *testing.T) {
	g := newGround(t)
	g.run(g.cluster.Config(), nil).ready()
	g.create("web")
	first := g.running("web")
	if err := g.cluster.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	err := g.provider.Change(g.namespace, "web", func(p *corev1.Pod) { p.Status.Message = "while nobody listened" })
	if err := errors.Join(err, g.cluster.StartAPIServer(g.ctx)); err != nil {
		t.Fatal(err)
	}
	pod := g.until("the status of the outage", "web", func(p *corev1.Pod) bool {
		return p != nil && p.Status.Message == "while nobody listened"
	})
	if pod.UID != first.UID {
		t.Errorf("pod %s: want %s", pod.UID, first.UID)
	}
	g.create("later")
	g.running("later")
}

// errorLog keeps the lines that an ErrorHandler is given.
type errorLog struct {
	mu    sync.Mutex
	lines []string
}

func (h *errorLog) handle(_ context.Context, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, err.Error())
	return nil
}

func (h *errorLog) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.lines...)
}

// user is somebody with those rights on pods and nothing else.
func (g *namespaceFixture) user(rules ...rbacv1.PolicyRule) *rest.Config {
	g.t.Helper()
	config, err := g.cluster.User(g.ctx, g.node, rules...)
	if err != nil {
		g.t.Fatal(err)
	}
	return config
}

// A right that is missing is named in one line, once, however many pods want it; once it is granted, all goes on.
func TestMissingRightIsNamedAndItsGrantIsEnough(t *testing.T) {
	g := newGround(t)
	var h errorLog
	config := g.user(testcluster.Rule("", []string{"pods"}, "delete"))
	g.run(config, func(cfg *virtualnode.PodControllerConfig) { cfg.ErrorHandler = h.handle }).ready()
	for _, name := range []string{"one", "two", "three"} {
		g.create(name)
	}
	g.until("the line", "one", func(*corev1.Pod) bool { return len(h.all()) > 0 })
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: g.node}, Rules: []rbacv1.PolicyRule{testcluster.Rule("", []string{"pods/status"}, "update")},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: g.node},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: g.node},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:authenticated"}},
	}
	_, first := g.admin.RbacV1().ClusterRoles().Create(g.ctx, role, metav1.CreateOptions{})
	_, second := g.admin.RbacV1().ClusterRoleBindings().Create(g.ctx, binding, metav1.CreateOptions{})
	t.Cleanup(func() {
		if err := g.cluster.Client().RbacV1().ClusterRoleBindings().Delete(context.Background(), g.node, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(first, second); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two", "three"} {
		g.running(name)
	}
	lines := h.all()
	if len(lines) != 1 {
		t.Fatalf("lines %q: want one", lines)
	}
	for _, part := range []string{"cannot update resource \"pods/status\"", "grant the verb update on pods/status in namespace"} {
		if !strings.Contains(lines[0], part) || strings.Contains(lines[0], "\n") {
			t.Errorf("line %q: want one line with %q", lines[0], part)
		}
	}
}

// An ErrorHandler that returns the error ends the controller with it.
func TestMissingRightEndsTheControllerWhereTheHandlerWantsIt(t *testing.T) {
	for name, missing := range map[string]struct {
		rules []rbacv1.PolicyRule
		want  string
		act   func(*namespaceFixture)
	}{
		"delete pods": {
			[]rbacv1.PolicyRule{testcluster.Rule("", []string{"pods/status"}, "update")},
			"grant the verb delete on pods in namespace",
			func(g *namespaceFixture) {
				g.create("web")
				g.running("web")
				if err := g.admin.CoreV1().Pods(g.namespace).Delete(g.ctx, "web", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			},
		},
		"update pods/status": {
			[]rbacv1.PolicyRule{testcluster.Rule("", []string{"pods"}, "delete")},
			"grant the verb update on pods/status in namespace",
			func(g *namespaceFixture) { g.create("web") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			stay := func(_ context.Context, err error) error { return err }
			g.run(g.user(missing.rules...), func(cfg *virtualnode.PodControllerConfig) { cfg.ErrorHandler = stay }).ready()
			missing.act(g)
			select {
			case err := <-g.ended:
				if err == nil || !strings.Contains(err.Error(), missing.want) {
					t.Errorf("Run ended with %v: want %q in it", err, missing.want)
				}
			case <-g.ctx.Done():
				t.Error("Run goes on")
			}
			if err := g.controller.Err(); err == nil {
				t.Error("Err is nil after Run has failed")
			}
		})
	}
}
