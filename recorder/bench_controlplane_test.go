//go:build controlplane

package recorder_test

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// BenchmarkRecordingOfAServer is BenchmarkRecording against kube-apiserver:
// the recorder and the floor watch the same 20,000 status patches at once.
func BenchmarkRecordingOfAServer(b *testing.B) {
	const nodes, writers = 100, 4
	events := 20_000
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
	config.QPS, config.Burst = -1, 0
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	api := client.CoreV1().Nodes()
	name := func(i int) string { return fmt.Sprintf("ip-10-0-1-%d", i) }
	for i := range nodes {
		if _, err := api.Create(b.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name(i), Labels: map[string]string{
			"eks.amazonaws.com/nodegroup": "spot-burst", "kubernetes.io/arch": "amd64", "topology.kubernetes.io/zone": "us-east-1a",
		}}}, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		dir := b.TempDir()
		kube := filepath.Join(dir, "kubeconfig")
		if err := testcluster.WriteKubeconfig(kube, c.Config()); err != nil {
			b.Fatal(err)
		}
		env := []string{"HELPER_KUBECONFIG=" + kube, "HELPER_END=end", "HELPER_RESOURCES=nodes", "HELPER_PATH=" + nodesPath + "?watch=1"}
		files := []string{"floor.json", "tape.yaml", "tape.yaml.zst"}
		var clients []*exec.Cmd
		var outputs []io.Reader
		for i, role := range []string{"floor", "record", "record"} {
			files[i] = filepath.Join(dir, files[i])
			cmd := startHelper(b, role, append(env, "HELPER_TAPE="+files[i])...)
			out, err := cmd.StdoutPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			r := bufio.NewReader(out)
			if line, err := r.ReadString('\n'); err != nil || line != "recording\n" {
				b.Fatalf("found %q, %v from %s, want that it records", line, err, role)
			}
			clients, outputs = append(clients, cmd), append(outputs, r)
		}
		began := time.Now()
		var writing sync.WaitGroup
		for w := range writers {
			writing.Go(func() {
				for i := w; i < events; i += writers {
					at := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Second).Format(time.RFC3339)
					patch := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":%q,"lastTransitionTime":"2026-11-20T21:22:04Z","reason":"KubeletReady","message":"kubelet is posting ready status"}]}}`, at)
					if _, err := api.Patch(b.Context(), name(i%nodes), types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		writing.Wait()
		rate := float64(events) / time.Since(began).Seconds()
		if _, err := api.Create(b.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "end"}}, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
		var costs []cost
		for i, cmd := range clients {
			rest, _ := io.ReadAll(outputs[i])
			if err := cmd.Wait(); err != nil {
				b.Fatalf("%v: %s", err, rest)
			}
			costs = append(costs, costOf(b, cmd, files[i]))
		}
		n := float64(events)
		for i, unit := range []string{"floor-µs/event", "plain-µs/event", "zstd-µs/event"} {
			b.ReportMetric(float64(costs[i].cpu.Microseconds())/n, unit)
		}
		b.ReportMetric(float64(costs[1].cpu)/float64(costs[0].cpu), "x-floor")
		b.ReportMetric(float64(costs[1].size)/n, "plain-B/event")
		b.ReportMetric(float64(costs[2].size)/n, "zstd-B/event")
		b.ReportMetric(float64(costs[1].rss)/1e6, "plain-MB-rss")
		b.ReportMetric(float64(costs[2].rss)/1e6, "zstd-MB-rss")
		b.ReportMetric(float64(costs[0].rss)/1e6, "floor-MB-rss")
		b.ReportMetric(rate, "events/s")
		if err := api.Delete(b.Context(), "end", metav1.DeleteOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
