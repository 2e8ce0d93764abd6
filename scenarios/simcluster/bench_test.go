package simcluster_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/simcluster"
)

// fleet is a scenario of so many nodes, and of a Deployment with so many pods.
func fleet(nodes, pods int) string {
	text := "metadata: {name: fleet, title: a fleet}\ncluster: {provider: eks, jitter: 0}\n" +
		fmt.Sprintf("groups: [{name: workers, nodes: %d, instanceType: m5.xlarge}]\n", nodes)
	if pods > 0 {
		text += fmt.Sprintf("workloads: [{name: web, namespace: shop, replicas: %d, requests: {cpu: 50m}}]\n", pods)
	}
	return "apiVersion: nodesim.dev/v1\nkind: Scenario\n" + text
}

// open makes the cluster of a scenario's text.
func open(b testing.TB, text string) *simcluster.Cluster {
	b.Helper()
	d, err := scenarios.Parse("bench", []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	c, err := simcluster.New(simcluster.AtRest(simcluster.File(f)))
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func closed(b testing.TB, c *simcluster.Cluster) {
	b.Helper()
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
}

// inMemory is a client of the cluster that speaks protobuf, as controllers do, and has no limit of its own.
func inMemory(b testing.TB, c *simcluster.Cluster) kubernetes.Interface {
	b.Helper()
	config := c.RESTConfig()
	config.QPS = -1
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	k, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	return k
}

// BenchmarkStart is the start of a cluster of 100 nodes, from its scenario's text to the first list of its nodes: 20 ms.
// Each node has its agents, 400 pods in all; the larger cluster has 1,000 pods of a Deployment besides.
func BenchmarkStart(b *testing.B) {
	for _, pods := range []int{0, 1000} {
		b.Run(fmt.Sprintf("nodes=100,pods=%d", pods), func(b *testing.B) {
			b.ReportAllocs()
			text := fleet(100, pods)
			for b.Loop() {
				c := open(b, text)
				list, err := inMemory(b, c).CoreV1().Nodes().List(b.Context(), metav1.ListOptions{})
				if err != nil || len(list.Items) != 100 {
					b.Fatal(len(list.Items), err)
				}
				closed(b, c)
			}
		})
	}
}

// BenchmarkFill begins with nothing, makes a cluster of 1,000 nodes, creates a Deployment of 10,000 pods and ends when
// all of them run: 5 s. All that there is of it then takes less than 200 MB. Beside: BenchmarkLive of cmd/nodesim/app, so
// many nodes and pods of live runs and of kwok.
func BenchmarkFill(b *testing.B) {
	const nodes, pods = 1000, 10_000
	b.ReportAllocs()
	for b.Loop() {
		c := open(b, fleet(nodes, 0))
		k := inMemory(b, c)
		labels := map[string]string{"app": "web"}
		replicas := int32(pods)
		web, err := k.AppsV1().Deployments("default").Create(b.Context(), &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: appsv1.DeploymentSpec{
				Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec: corev1.PodSpec{Containers: []corev1.Container{{
						Name: "web", Image: "registry.example.com/web:1",
						Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m")}},
					}}},
				},
			},
		}, metav1.CreateOptions{})
		for err == nil && web.Status.ReadyReplicas < pods && c.Player().Position() < time.Hour {
			if err = c.RunFor(b.Context(), 5*time.Second); err == nil {
				web, err = k.AppsV1().Deployments("default").Get(b.Context(), "web", metav1.GetOptions{})
			}
		}
		if err != nil || web.Status.ReadyReplicas < pods {
			b.Fatal(web.Status, err)
		}
		b.ReportMetric(c.Player().Position().Seconds(), "virtual-s")
		b.ReportMetric(float64(c.Player().Status().Number), "events")
		b.StopTimer()
		b.ReportMetric(living(), "heap-MB")
		closed(b, c)
		b.StartTimer()
	}
}

// living is what is alive on the heap.
func living() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

// BenchmarkDrain drains a node of 30 pods as kubectl does, whose pods come up elsewhere: 50 ms.
func BenchmarkDrain(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		c := open(b, fleet(3, 90))
		k := inMemory(b, c)
		node := firstNode(b, k)
		pods := podsOn(b, k, node, true)
		b.ReportMetric(float64(len(pods)), "pods")
		b.StartTimer()
		drained(b, k, node, pods, func(d time.Duration) {
			if err := c.RunFor(b.Context(), d); err != nil {
				b.Fatal(err)
			}
		})
		b.StopTimer()
		b.ReportMetric(c.Player().Position().Seconds(), "virtual-s")
		closed(b, c)
		b.StartTimer()
	}
}

// drained drains a node, and returns when its pods are gone.
func drained(b *testing.B, k kubernetes.Interface, node string, pods []string, pause func(time.Duration)) {
	b.Helper()
	drain(b, k, node, func() { b.Error("an eviction was refused") })
	for len(pods) > 0 {
		pause(time.Second) // each pod, once a second: waitForDelete of k8s.io/kubectl/pkg/drain/drain.go
		pods = slices.DeleteFunc(pods, func(name string) bool {
			_, err := k.CoreV1().Pods("shop").Get(b.Context(), name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
}

// BenchmarkWrites writes through the client in memory, one after the other: 10,000 a second.
func BenchmarkWrites(b *testing.B) {
	c := open(b, fleet(100, 1000))
	defer closed(b, c)
	k := inMemory(b, c)
	for name, write := range writesOf(b, k) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if err := write(n); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}

// writesOf are writes of several kinds.
func writesOf(b testing.TB, k kubernetes.Interface) map[string]func(n int) error {
	b.Helper()
	ctx, api := b.Context(), k.CoreV1()
	node := firstNode(b, k)
	pods, err := api.Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: "app=web", Limit: 1})
	if err != nil || len(pods.Items) == 0 {
		b.Fatal(len(pods.Items), err)
	}
	pod := &pods.Items[0]
	live, err := api.Nodes().Get(ctx, node, metav1.GetOptions{})
	if err != nil {
		b.Fatal(err)
	}
	created := 0
	return map[string]func(n int) error{
		"create ConfigMap": func(int) error {
			created++
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c-", created)}, Data: map[string]string{"a": "1"}}
			_, err := api.ConfigMaps("default").Create(ctx, m, metav1.CreateOptions{})
			return err
		},
		"merge patch node": func(n int) error {
			_, err := api.Nodes().Patch(ctx, node, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"n":"%d"}}}`, n), metav1.PatchOptions{})
			return err
		},
		"strategic merge patch node": func(n int) error {
			_, err := api.Nodes().Patch(ctx, node, types.StrategicMergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"n":"%d"}}}`, n), metav1.PatchOptions{})
			return err
		},
		"update node": func(n int) error {
			live.ResourceVersion = ""
			metav1.SetMetaDataAnnotation(&live.ObjectMeta, "n", fmt.Sprint(n))
			_, err := api.Nodes().Update(ctx, live, metav1.UpdateOptions{})
			return err
		},
		"patch pod": func(n int) error {
			_, err := api.Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"n":"%d"}}}`, n), metav1.PatchOptions{})
			return err
		},
		"patch status of pod": func(n int) error {
			_, err := api.Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, fmt.Appendf(nil, `{"status":{"message":"%d"}}`, n), metav1.PatchOptions{}, "status")
			return err
		},
		"create and delete pod": func(n int) error {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p-", n)}, Spec: *pod.Spec.DeepCopy()}
			p.Spec.NodeName = ""
			p.Spec.NodeSelector = map[string]string{"no": "where"}
			if _, err := api.Pods("default").Create(ctx, p, metav1.CreateOptions{}); err != nil {
				return err
			}
			return api.Pods("default").Delete(ctx, p.Name, metav1.DeleteOptions{})
		},
	}
}
