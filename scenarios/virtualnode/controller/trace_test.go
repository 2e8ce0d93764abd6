package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
)

// spans notes what it is asked to trace, each as the names of its spans from the outermost one on.
type spans struct {
	mu    sync.Mutex
	ended []string
}

type spanKey struct{}

func spanOf(ctx context.Context) string {
	name, _ := ctx.Value(spanKey{}).(string)
	return name
}

func (s *spans) begin(ctx context.Context, o Operation) (context.Context, func(error)) {
	name := strings.TrimSpace(spanOf(ctx) + " " + o.Name)
	return context.WithValue(ctx, spanKey{}, name), func(err error) {
		if err != nil {
			name += ": " + err.Error()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = append(s.ended, strings.TrimSpace(o.Namespace+"/"+o.Pod+" "+name))
	}
}

func (s *spans) have(span string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.ended, span)
}

// A tracedSpy fails where a call comes without its span.
type tracedSpy struct {
	*spy
	t *testing.T
}

func (p tracedSpy) want(ctx context.Context, span string) {
	if got := spanOf(ctx); got != span {
		p.t.Errorf("found the span %q, want %q", got, span)
	}
}

func (p tracedSpy) CreatePod(ctx context.Context, pod *corev1.Pod) error {
	p.want(ctx, "SyncPod CreatePod")
	return p.spy.CreatePod(ctx, pod)
}

func (p tracedSpy) UpdatePod(ctx context.Context, pod *corev1.Pod) error {
	p.want(ctx, "SyncPod UpdatePod")
	return p.spy.UpdatePod(ctx, pod)
}

func (p tracedSpy) DeletePod(ctx context.Context, pod *corev1.Pod) error {
	p.want(ctx, "SyncPod DeletePod")
	return p.spy.DeletePod(ctx, pod)
}

func (p tracedSpy) GetPods(ctx context.Context) ([]*corev1.Pod, error) {
	p.want(ctx, "GetPods")
	return p.spy.GetPods(ctx)
}

func (p tracedSpy) GetPodByUID(ctx context.Context, namespace, name string, _ types.UID) (*corev1.Pod, error) {
	p.want(ctx, "SyncPod GetPodByUID")
	return p.GetPod(ctx, namespace, name)
}

func TestProvidersAreTraced(t *testing.T) {
	bothWays(t, func(t *testing.T, way func(*podConfig)) {
		var s spans
		st := newPodFixture(t, func(cfg *podConfig) {
			cfg.Provider = tracedSpy{cfg.Provider.(*spy), t}
			cfg.Tracer = s.begin
			way(cfg)
		}).run()
		st.provider.failing(func(call string, _ *corev1.Pod) error {
			if call == "create" && st.provider.calls[0] == "create web" && len(st.provider.calls) == 1 {
				return errors.New("not yet")
			}
			return nil
		})
		st.create(aPod("web"))
		st.until("a running pod", func() bool { return st.phase("web") == corev1.PodRunning })
		st.edit("web", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "registry.example/app:2" })
		st.until("the update", func() bool { return st.provider.count("update web") == 1 })
		st.idle()
		st.edit("web", st.deleted(new(int64(1))))
		st.until("the pod's removal", func() bool { return st.get("web") == nil })
		if err := st.stop(); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"/ GetPods", "default/web SyncPod CreatePod: not yet", "default/web SyncPod CreatePod", "default/web SyncPod UpdatePod",
			"default/web SyncPod DeletePod", "default/web SyncStatus", "default/web RemovePod",
		} {
			if !s.have(want) {
				t.Errorf("no span %q among %q", want, s.ended)
			}
		}
	})
}

type tracedPing struct {
	NaiveNodeProvider
	spans chan string
}

func (p tracedPing) Ping(ctx context.Context) error {
	select {
	case p.spans <- spanOf(ctx):
	default:
	}
	return nil
}

func TestPingsAreTraced(t *testing.T) {
	var s spans
	provider := tracedPing{spans: make(chan string, 1)}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "virtual"}}
	controller, err := NewNodeController(provider, node, fake.NewClientset().CoreV1().Nodes(), WithNodeTracer(s.begin))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- controller.Run(ctx) }()
	if span := <-provider.spans; span != "Ping" {
		t.Errorf("found the span %q, want Ping", span)
	}
	cancel()
	if err := <-ended; err != nil || !s.have("/ Ping") {
		t.Errorf("found %v and the spans %q, want a Ping among them", err, s.ended)
	}
}
