package simcluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	"github.com/nodesim/nodesim/scenarios/simcluster"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/scenarios/virtualnode"
)

// keepPods runs a PodController for the pods of a node until the test ends.
func keepPods(t *testing.T, k kubernetes.Interface, node string, p virtualnode.PodLifecycleHandler) {
	t.Helper()
	factory := informers.NewSharedInformerFactory(k, 0)
	core := factory.Core().V1()
	c, err := virtualnode.NewPodController(virtualnode.PodControllerConfig{
		PodClient: k.CoreV1(), PodInformer: core.Pods(), EventRecorder: &record.FakeRecorder{}, Provider: p,
		ConfigMapInformer: core.ConfigMaps(), SecretInformer: core.Secrets(), ServiceInformer: core.Services(),
		PodEventFilterFunc: virtualnode.FilterPodsForNodeName(node),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []interface{ HasSynced() bool }{core.Pods().Informer(), core.ConfigMaps().Informer(), core.Secrets().Informer(), core.Services().Informer()} {
		_ = i.HasSynced() // so that the factory starts it
	}
	informing, stop := context.WithCancel(context.Background())
	factory.Start(informing.Done())
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), klog.Logger{}))
	go func() { _ = c.Run(ctx, 1) }() // Err has what it returns
	t.Cleanup(func() {
		cancel()
		<-c.Done()
		if err := c.Err(); err != nil {
			t.Error(err)
		}
		stop()
		factory.Shutdown()
	})
	select {
	case <-c.Ready():
	case <-c.Done():
		t.Fatal(c.Err())
	}
}

// refusing is a provider that can't create pods while it has refusals left.
type refusing struct {
	*virtualnode.MockProvider
	left atomic.Int32
}

func (r *refusing) CreatePod(ctx context.Context, p *corev1.Pod) error {
	if r.left.Add(-1) >= 0 {
		return errors.New("no room in the cloud")
	}
	return r.MockProvider.CreatePod(ctx, p)
}

// The counterpart of virtualnode's tests of pods on a real API server: a PodController runs the pods that the cluster's
// scheduler gives its node, with their environment resolved; a change of the image reaches the provider; an evicted pod ends
// long before its grace period does, and its controller makes another one.
func TestAPodControllerRunsPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.Groups(spec.Cluster{}, spec.Group{Name: "workers", Nodes: 1}))
		c.Start()
		k := clients(t, c)
		keepNode(t, k, virtualnode.NewNaiveNodeProvider(), virtual())
		provider := &refusing{MockProvider: virtualnode.NewMockProvider(nil)}
		keepPods(t, k, "virtual-1", provider)
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"COLOUR": "green"}}
		if _, err := k.CoreV1().ConfigMaps("default").Create(t.Context(), config, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		labels := map[string]string{"app": "web"}
		settings := corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}
		d := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: appsv1.DeploymentSpec{
				Replicas: new(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec: corev1.PodSpec{
						NodeSelector: map[string]string{"kind": "virtual"},
						Containers:   []corev1.Container{{Name: "web", Image: "registry.example/web:1", EnvFrom: []corev1.EnvFromSource{settings}}},
					},
				},
			},
		}
		if _, err := k.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		available := func(n int32) func() bool {
			return func() bool {
				d, err := k.AppsV1().Deployments("default").Get(t.Context(), "web", metav1.GetOptions{})
				return err == nil && d.Status.AvailableReplicas == n
			}
		}
		c.Eventually(5*time.Minute, "three pods to be available", available(3))
		list, err := k.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=virtual-1"})
		if err != nil {
			t.Fatal(err)
		}
		var web []corev1.Pod
		for _, p := range list.Items {
			if strings.HasPrefix(p.Name, "web-") {
				web = append(web, p)
			}
		}
		if len(web) != 3 {
			t.Fatalf("%d pods of web on the virtual node, want 3", len(web))
		}
		ran, err := provider.GetPod(t.Context(), "default", web[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		if env := ran.Spec.Containers[0].Env; !slices.Contains(env, corev1.EnvVar{Name: "COLOUR", Value: "green"}) {
			t.Errorf("the provider got the environment %v, want COLOUR of the ConfigMap in it", env)
		}

		changed := web[1].DeepCopy()
		changed.Spec.Containers[0].Image = "registry.example/web:2"
		if _, err := k.CoreV1().Pods("default").Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(time.Minute, "the image to reach the provider", func() bool {
			p, err := provider.GetPod(t.Context(), "default", changed.Name)
			return err == nil && p.Spec.Containers[0].Image == "registry.example/web:2"
		})

		provider.left.Store(2)
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: web[2].Name}}
		if err := k.PolicyV1().Evictions("default").Evict(t.Context(), eviction); err != nil {
			t.Fatal(err)
		}
		c.Eventually(20*time.Second, "the evicted pod to go", func() bool {
			_, err := k.CoreV1().Pods("default").Get(t.Context(), web[2].Name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
		c.Eventually(5*time.Minute, "another pod, refused twice by the provider", func() bool { return provider.left.Load() < 0 })
		c.Eventually(5*time.Minute, "three pods to be available again", available(3))
	})
}
