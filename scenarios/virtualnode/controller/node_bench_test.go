package controller

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// An echo answers each write of an object with what was sent, and all else with one object: what is measured is the
// client's side alone.
type echo struct{ object []byte }

func (e *echo) RoundTrip(r *http.Request) (*http.Response, error) {
	body := e.object
	if r.Method == http.MethodPut {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = sent
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {apiruntime.ContentTypeProtobuf}},
		Body: io.NopCloser(bytes.NewReader(body)), ProtoMajor: 2,
	}, nil
}

func (e *echo) client(b *testing.B) *kubernetes.Clientset {
	b.Helper()
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: "http://echo", QPS: -1, ContentConfig: rest.ContentConfig{
		ContentType: apiruntime.ContentTypeProtobuf, AcceptContentTypes: apiruntime.ContentTypeProtobuf,
	}}, &http.Client{Transport: e})
	if err != nil {
		b.Fatal(err)
	}
	return client
}

func benchNode(b *testing.B) (*corev1.Node, []byte) {
	b.Helper()
	n := readyNode()
	n.UID, n.ResourceVersion = "0b6c3ce1-93ac-4ad4-a6e5-1e9f6ff24f5b", "1"
	for _, kind := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: kind, Status: corev1.ConditionFalse})
	}
	n, err := annotated(n)
	if err != nil {
		b.Fatal(err)
	}
	info, _ := apiruntime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), apiruntime.ContentTypeProtobuf)
	var text bytes.Buffer
	if err := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion).Encode(n, &text); err != nil {
		b.Fatal(err)
	}
	return n, text.Bytes()
}

// A thousand nodes renew a hundred leases a second: a hundredth of a core is 100 µs for each.
func BenchmarkLeaseRenewal(b *testing.B) {
	k := &leaseKeeper{
		client: (&echo{}).client(b).CoordinationV1().Leases(corev1.NamespaceNodeLease), duration: 40, interval: 10 * time.Second,
		cached: newLease(identity{name: "virtual", uid: "0b6c3ce1-93ac-4ad4-a6e5-1e9f6ff24f5b"}, 40, time.Now()),
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := k.renew(b.Context(), identity{name: "virtual", uid: "0b6c3ce1-93ac-4ad4-a6e5-1e9f6ff24f5b"}, time.Now, func() {}); err != nil {
			b.Fatal(err)
		}
	}
}

// An update of the status: written with a GET before it, written from the cache, and found needless.
func BenchmarkStatusUpdate(b *testing.B) {
	given, text := benchNode(b)
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	if err := index.Add(given); err != nil {
		b.Fatal(err)
	}
	lister := WithNodeLister(corelisters.NewNodeLister(index))
	for name, options := range map[string][]NodeControllerOpt{
		"get":      nil,
		"lister":   {lister},
		"needless": {lister, WithNodeStatusReportInterval(time.Hour)},
	} {
		b.Run(name, func(b *testing.B) {
			n := must(b, NaiveNodeProvider{}, given, (&echo{text}).client(b).CoreV1().Nodes(), options...)
			n.wire(b.Context())
			n.pinger.last = &answer{start: time.Now().Add(time.Hour)}
			b.ReportAllocs()
			for b.Loop() {
				if err := n.updateStatus(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a thousand controllers weigh between their beats.
func BenchmarkNodesAtRest(b *testing.B) {
	const nodes = 1000
	given, text := benchNode(b)
	client := (&echo{text}).client(b)
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		threads := runtime.NumGoroutine()
		stops := make([]func() error, 0, nodes)
		for range nodes {
			stops = append(stops, running(b.Context(), b, must(b, NaiveNodeProvider{}, given, client.CoreV1().Nodes())))
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc+after.StackInuse-before.HeapAlloc-before.StackInuse)/nodes, "B/node")
		b.ReportMetric(float64(runtime.NumGoroutine()-threads)/nodes, "goroutines/node")
		for _, stop := range stops {
			if err := stop(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// A patch of a node that is as it should be, which is most of what a status update computes.
func BenchmarkStatusPatch(b *testing.B) {
	given, _ := benchNode(b)
	desired := composed(given, readiness{heartbeat: metav1.Now()})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := statusPatch(desired, given); err != nil {
			b.Fatal(err)
		}
	}
}
