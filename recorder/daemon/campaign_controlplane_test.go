//go:build controlplane

package daemon_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestCampaigns records rolls that nobody announced, on a real control plane, with the daemon killed, ended, cut off and partitioned. What
// the API server has acknowledged is the truth: each write is on a tape, since the server forgets nothing here.
func TestCampaigns(t *testing.T) {
	n := uint64(5)
	if os.Getenv("NODESIM_SOAK") != "" {
		n = 100
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { (&campaign{T: t, rng: rand.New(rand.NewPCG(seed, 3))}).run(seed) })
	}
}

type campaign struct {
	*testing.T
	rng       *rand.Rand
	proxy     *testcluster.Proxy
	dir, kube string
	process   *exec.Cmd
	story     []string
}

func (c *campaign) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *campaign) start() {
	c.process = exec.Command(os.Args[0])
	c.process.Env = append(os.Environ(), helperEnv+"="+c.dir, "HELPER_KUBECONFIG="+c.kube)
	if c.rng.IntN(2) == 0 {
		c.process.Env = append(c.process.Env, "HELPER_FINISH=1")
	}
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	c.must(err)
	c.process.Stdout, c.process.Stderr = log, log
	c.must(c.process.Start())
	c.must(log.Close())
}

func (c *campaign) stop(s syscall.Signal) {
	c.must(c.process.Process.Signal(s))
	_ = c.process.Wait() // a killed one has no good status
}

func (c *campaign) until(what string, is func() bool) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), 10*time.Minute)
	defer cancel()
	for !is() {
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
			c.Fatalf("%s: not within ten minutes; story %q, log:\n%s", what, c.story, log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (c *campaign) tapes() []string {
	described, err := filepath.Glob(filepath.Join(c.dir, "tapes", "*.json"))
	c.must(err)
	for i := range described {
		described[i] = strings.TrimSuffix(described[i], ".json") + ".yaml.zst"
	}
	return described
}

func (c *campaign) run(seed uint64) {
	cluster := testcluster.Shared(c.T)
	nodes := cluster.Client().CoreV1().Nodes()
	c.proxy, c.dir = cluster.Proxy(c.T), c.TempDir()
	c.kube = filepath.Join(c.dir, "kubeconfig")
	c.must(testcluster.WriteKubeconfig(c.kube, c.proxy.Config(cluster.Config())))
	var names []string
	for i := range 3 {
		name := fmt.Sprintf("s%d-%d", seed, i)
		made, err := nodes.Create(c.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{testcluster.LabelNodegroup: fmt.Sprint("s", seed)}}}, metav1.CreateOptions{})
		c.must(err)
		made.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		_, err = nodes.UpdateStatus(c.Context(), made, metav1.UpdateOptions{})
		c.must(err)
		names = append(names, name)
		c.Cleanup(func() { _ = nodes.Delete(context.Background(), name, metav1.DeleteOptions{}) }) // it may be gone
	}
	c.start()
	defer func() { _ = c.process.Process.Kill() }() // it may have ended
	c.until("the recording", func() bool {
		files, _ := filepath.Glob(filepath.Join(c.dir, "history", "*"))
		return len(files) > 0
	})
	want, last := map[string]bool{}, ""
	write := func(name string, cordoned bool) {
		done, err := nodes.Patch(c.Context(), name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%t},"metadata":{"labels":{"n":"%d"}}}`, cordoned, len(want)), metav1.PatchOptions{})
		c.must(err)
		last = "nodes " + name + " " + done.ResourceVersion
		want[last] = true
	}
	write(names[0], true)
	for i := range 30 {
		write(names[c.rng.IntN(3)], i%3 > 0)
		if c.rng.IntN(4) == 0 {
			c.fault()
		}
	}
	for _, name := range names {
		write(name, true)
		write(name, false)
	}
	c.must(c.proxy.Resume())
	c.until("the last write on a tape", func() bool { return read(c.T, c.tapes()...).versions[last] })
	c.stop(syscall.SIGTERM)
	got := read(c.T, c.tapes()...)
	for w := range want {
		if !got.versions[w] {
			c.Errorf("no tape has %s, which the server has acknowledged; %d gaps, story %q", w, got.gaps, c.story)
		}
	}
	c.Logf("%d writes, %d tapes, %d gaps, story %q", len(want), len(c.tapes()), got.gaps, c.story)
}

func (c *campaign) fault() {
	switch c.rng.IntN(5) {
	case 0:
		c.story = append(c.story, "killed")
		c.stop(syscall.SIGKILL)
		c.start()
	case 1:
		c.story = append(c.story, "ended")
		c.stop(syscall.SIGTERM)
		c.start()
	case 2:
		c.story = append(c.story, "cut")
		c.proxy.Cut()
	case 3:
		c.story = append(c.story, "partitioned")
		c.must(c.proxy.Refuse())
	default:
		c.story = append(c.story, "back")
		c.must(c.proxy.Resume())
	}
}
