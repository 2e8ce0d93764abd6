//go:build controlplane && linux

package daemon_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// recorderProcess is a recorder in a process of its own, which can be killed, with a way of its own to the API server, which can be cut.
type recorderProcess struct {
	*testing.T
	proxy     *testcluster.Proxy
	dir, kube string // its folder, and the kubeconfig that leads through the proxy
	log       string // the file of what it says
	process   *exec.Cmd
}

func (p *recorderProcess) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// connect makes the way to the API server.
func (p *recorderProcess) connect(c *testcluster.Cluster) {
	p.proxy = c.Proxy(p.T)
	p.kube = filepath.Join(p.TempDir(), "kubeconfig")
	p.must(testcluster.WriteKubeconfig(p.kube, p.proxy.Config(c.Config())))
}

// start runs the test's program again, as the helper that the environment asks for.
func (p *recorderProcess) start(env ...string) {
	p.process = exec.Command(os.Args[0])
	p.process.Env = append(os.Environ(), env...)
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	p.must(err)
	p.process.Stdout, p.process.Stderr = log, log
	p.must(p.process.Start())
	p.must(log.Close())
}

func (p *recorderProcess) stop(s syscall.Signal) {
	p.must(p.process.Process.Signal(s))
	p.must(p.process.Process.Signal(syscall.SIGCONT)) // a stopped process takes no other signal but SIGKILL
	_ = p.process.Wait()                              // a killed one has no good status
}

// said is what it has written to its log.
func (p *recorderProcess) said() string {
	text, _ := os.ReadFile(p.log) // there is none before it is started
	return string(text)
}

// recorded reports whether such a line is on the disk.
func (p *recorderProcess) recorded(is func(timeline.Event) bool) bool {
	files, err := filepath.Glob(filepath.Join(p.dir, "history", "*"))
	p.must(err)
	for _, f := range files {
		r, err := timeline.Open(f)
		if err != nil {
			continue // its header isn't there yet
		}
		for ev, err := range r.All() {
			if err == nil && is(ev) {
				return r.Close() == nil
			}
		}
		p.must(r.Close())
	}
	return false
}

// synced reports whether what the cluster had at the beginning is on the disk.
func (p *recorderProcess) synced() bool {
	return p.recorded(func(ev timeline.Event) bool { return ev.Type == timeline.Sync })
}

// until waits until something is so; told says what is known where it isn't within three minutes.
func until(t *testing.T, what string, is func() bool, told func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within three minutes; %s", what, told())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// rolledNodes are the nodes of a campaign, and what the API server has acknowledged of them.
type rolledNodes struct {
	*testing.T
	client corev1client.NodeInterface
	names  []string
	want   map[string]int // the version of each write, "nodes a 104"
	last   string         // of the writes
}

// rollNodes makes three nodes of a group of their own.
func rollNodes(t *testing.T, c *testcluster.Cluster, seed uint64) *rolledNodes {
	t.Helper()
	n := &rolledNodes{T: t, client: c.Client().CoreV1().Nodes(), want: map[string]int{}}
	for i := range 3 {
		name := fmt.Sprintf("s%d-%d", seed, i)
		made, err := n.client.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{testcluster.LabelNodegroup: fmt.Sprint("s", seed)}}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.client.Delete(context.Background(), name, metav1.DeleteOptions{}) }) // it may be gone
		made.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		if _, err := n.client.UpdateStatus(t.Context(), made, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		n.names = append(n.names, name)
	}
	return n
}

// write changes a node: a label in any case, so that the write has a version of its own.
func (n *rolledNodes) write(name string, cordoned bool) {
	n.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t},"metadata":{"labels":{"n":"%d"}}}`, cordoned, len(n.want))
	done, err := n.client.Patch(n.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		n.Fatal(err)
	}
	version, err := strconv.Atoi(done.ResourceVersion)
	if err != nil {
		n.Fatal(err)
	}
	n.last = "nodes " + name + " " + done.ResourceVersion
	n.want[n.last] = version
}

// isLast reports whether an event is the last write.
func (n *rolledNodes) isLast(ev timeline.Event) bool { return n.last == "nodes "+ev.Name+" "+ev.RV }

// lacking are the writes that tapes lack without a GAP that says so.
func (n *rolledNodes) lacking(c content) (lacks []string) {
	for _, w := range slices.Sorted(maps.Keys(n.want)) {
		if !c.has(w, n.want[w]) {
			lacks = append(lacks, w)
		}
	}
	return lacks
}
