//go:build controlplane

package apiserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/timeline"
)

// BenchmarkFanOut lets 200 raw clients read the same 5,000 events, from one
// version on, over TLS: from kube-apiserver, where they have just been written,
// and from a replay of them. What is counted is the server's processor time for
// each event that a client gets.
func BenchmarkFanOut(b *testing.B) {
	const watchers, nodes, writers, events = 200, 100, 8, 5000
	c, err := testcluster.Start(testcluster.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := c.Stop(); err != nil {
			b.Error(err)
		}
	}()
	config := c.Config()
	config.QPS = -1
	api := kubernetes.NewForConfigOrDie(config)
	pair := filepath.Join(b.TempDir(), "pair.pem")
	if err := os.WriteFile(pair, append(bytes.Clone(config.CertData), config.KeyData...), 0o600); err != nil {
		b.Fatal(err)
	}
	name := func(i int) string { return fmt.Sprintf("ip-10-0-1-%d", i) }
	for i := range nodes {
		labels := map[string]string{}
		for n := range 30 {
			labels[fmt.Sprint("label-", n)] = "some-value-of-a-node"
		}
		if _, err := api.CoreV1().Nodes().Create(b.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name(i), Labels: labels}}, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	list, err := api.CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes").DoRaw(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	tape, from := listed(b, list)
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := w; i < events; i += writers {
				patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"beat":"%d"}}}`, i)
				if _, err := api.CoreV1().Nodes().Patch(b.Context(), name(i%nodes), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	writing.Wait()
	tape = append(tape, watched(b, config, from, events)...)
	p, err := replay.NewPlayer(replay.Events(&timeline.Header{
		Metadata: timeline.Metadata{Name: "fan-out"}, Source: timeline.Origin{Server: "v1.36.3"},
		Resources: []timeline.Resource{{Version: "v1", Kind: "Node", Resource: "nodes"}},
	}, tape), replay.WithCluster(replay.History(2*events)))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Seek(b.Context(), replay.End); err != nil {
		b.Fatal(err)
	}
	s, err := apiserver.New(p)
	if err != nil {
		b.Fatal(err)
	}
	web := httptest.NewTLSServer(s)
	defer web.Close()
	pid, err := c.APIServerPID()
	if err != nil {
		b.Fatal(err)
	}
	path := "/api/v1/nodes?watch=true&resourceVersion=" + from
	for b.Loop() {
		real := served(b, pid, watchers, events, strings.TrimSuffix(config.Host, "/")+path, pair)
		own := served(b, os.Getpid(), watchers, events, web.URL+path, "")
		b.ReportMetric(real, "kube-apiserver-ns/delivery")
		b.ReportMetric(own, "nodesim-ns/delivery")
		b.ReportMetric(real/own, "x-kube-apiserver")
	}
}

// served is the processor time that a process spends on each event that
// clients read.
func served(b *testing.B, pid, watchers, events int, url, pair string) float64 {
	b.Helper()
	before := ticks(b, pid)
	clients := startMany(b, watchers, events, url, credentials{pair: pair})
	clients.done(b)
	spent := ticks(b, pid) - before
	clients.leave(b)
	return float64(spent.Nanoseconds()) / float64(watchers*events)
}

// ticks is the processor time of a process: fields 14 and 15 of its stat, in
// hundredths of a second (proc_pid_stat(5)).
func ticks(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	var user, system int64
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		b.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// listed makes a list the beginning of a tape.
func listed(b *testing.B, raw []byte) (events []timeline.Event, version string) {
	b.Helper()
	var list struct {
		Metadata metav1.ListMeta
		Items    []json.RawMessage
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		b.Fatal(err)
	}
	for _, item := range list.Items {
		events = append(events, event(b, timeline.Added, item))
	}
	return append(events, timeline.Event{Type: timeline.Sync, Resource: "nodes", RV: list.Metadata.ResourceVersion}), list.Metadata.ResourceVersion
}

// watched reads so many events from a version on.
func watched(b *testing.B, config *rest.Config, version string, events int) (all []timeline.Event) {
	b.Helper()
	client := kubernetes.NewForConfigOrDie(config)
	body, err := client.CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes").Param("watch", "true").Param("resourceVersion", version).SetHeader("Accept", "application/json").Stream(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = body.Close() }()
	for d := json.NewDecoder(body); len(all) < events; {
		var frame struct {
			Type   timeline.Type
			Object json.RawMessage
		}
		if err := d.Decode(&frame); err != nil {
			b.Fatal(err)
		}
		all = append(all, event(b, frame.Type, frame.Object))
	}
	return all
}

func event(b *testing.B, kind timeline.Type, raw json.RawMessage) timeline.Event {
	b.Helper()
	var o metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &o); err != nil {
		b.Fatal(err)
	}
	if !bytes.Contains(raw, []byte(`"kind":"Node"`)) { // items of a list lack it
		raw = append([]byte(`{"kind":"Node","apiVersion":"v1",`), raw[1:]...)
	}
	return timeline.Event{Type: kind, Resource: "nodes", Name: o.Name, UID: string(o.UID), RV: o.ResourceVersion, Object: bytes.Clone(raw)}
}
