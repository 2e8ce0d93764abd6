//go:build controlplane && linux

package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/timeline"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestCampaigns records rolls that nobody announced, on a real control plane, with the daemon killed, ended, throttled, cut off and
// partitioned, its disk full, its store away, the API server restarted and its history forgotten. What the API server has acknowledged is
// the truth: each write is on a tape, or where the server has forgotten versions in a GAP; and the store has all tapes.
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
	cluster   *testcluster.Cluster
	dir, kube string
	process   *exec.Cmd
	restarts  int  // of the API server, which take seconds
	forgot    bool // what the API server knew of former versions
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
	c.process.Env = append(os.Environ(), helperEnv+"="+c.dir, "HELPER_KUBECONFIG="+c.kube, "HELPER_STORE="+c.store())
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
	c.must(c.process.Process.Signal(syscall.SIGCONT)) // a stopped process takes no other signal but SIGKILL
	_ = c.process.Wait()                              // a killed one has no good status
}

func (c *campaign) until(what string, is func() bool) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), 3*time.Minute)
	defer cancel()
	for !is() {
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
			c.Fatalf("%s: not within three minutes; story %q, log:\n%s", what, c.story, log)
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
	c.cluster = testcluster.Shared(c.T)
	nodes := c.cluster.Client().CoreV1().Nodes()
	c.proxy, c.dir = c.cluster.Proxy(c.T), c.TempDir()
	c.kube = filepath.Join(c.dir, "kubeconfig")
	c.must(testcluster.WriteKubeconfig(c.kube, c.proxy.Config(c.cluster.Config())))
	c.must(os.Mkdir(c.store(), 0o700))
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
	c.until("the recording", func() bool { return c.recorded(func(ev timeline.Event) bool { return ev.Type == timeline.Sync }) })
	want, last := map[string]int{}, ""
	write := func(name string, cordoned bool) {
		done, err := nodes.Patch(c.Context(), name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%t},"metadata":{"labels":{"n":"%d"}}}`, cordoned, len(want)), metav1.PatchOptions{})
		c.must(err)
		last = "nodes " + name + " " + done.ResourceVersion
		want[last], err = strconv.Atoi(done.ResourceVersion)
		c.must(err)
	}
	write(names[0], true)
	// Of a roll whose every sign falls into what the server forgets there is no tape.
	c.until("the roll", func() bool {
		return c.recorded(func(ev timeline.Event) bool { return last == "nodes "+ev.Name+" "+ev.RV })
	})
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
	c.back()
	c.until("the last write on a tape", func() bool { return read(c.T, c.tapes()...).has(last, want[last]) })
	c.until("the tapes in the store", c.stored)
	c.stop(syscall.SIGTERM)
	got := read(c.T, c.tapes()...)
	for w, version := range want {
		if !got.has(w, version) {
			c.Errorf("no tape has %s, which the server has acknowledged, and no GAP says so; %d gaps, story %q", w, got.gaps, c.story)
		}
	}
	if got.gaps > 0 && !c.forgot {
		c.Errorf("found %d gaps, want none: the server never forgot a version; story %q", got.gaps, c.story)
	}
	c.Logf("%d writes, %d tapes, %d gaps, story %q", len(want), len(c.tapes()), got.gaps, c.story)
}

// recorded reports whether such a line is on the disk.
func (c *campaign) recorded(is func(timeline.Event) bool) bool {
	files, err := filepath.Glob(filepath.Join(c.dir, "history", "*"))
	c.must(err)
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
		c.must(r.Close())
	}
	return false
}

func (c *campaign) store() string { return filepath.Join(c.dir, "store") }

// stored reports whether the store has each tape of the folder, with the same content.
func (c *campaign) stored() bool {
	made, err := store.Finished(filepath.Join(c.dir, "tapes"))
	c.must(err)
	s, err := store.Open(c.Context(), "file://"+c.store())
	c.must(err)
	defer func() { c.must(s.Close()) }()
	tapes, skipped, err := s.List(c.Context(), store.Query{})
	c.must(errors.Join(append(skipped, err)...))
	has := map[string]string{}
	for _, t := range tapes {
		c.must(s.Get(c.Context(), t, io.Discard)) // against its checksum
		has[t.Name] = t.SHA256
	}
	return !slices.ContainsFunc(made, func(t store.Tape) bool { return has[t.Name] != t.SHA256 })
}

func (c *campaign) fault() {
	tell := func(what string) { c.story = append(c.story, what) }
	n := c.rng.IntN(13)
	if n < 2 && c.restarts > 0 {
		n += 2
	}
	switch n {
	case 0, 1:
		c.restarts++
		c.forgot = true // a restarted server's watch cache begins anew
		c.must(c.proxy.Refuse())
		if n == 0 {
			tell("the API server restarts")
			c.must(c.cluster.RestartAPIServer(c.Context()))
		} else {
			tell("versions are forgotten")
			_, err := c.cluster.ExpireWatches(c.Context())
			c.must(err)
		}
		c.must(c.proxy.Resume())
	case 2, 3:
		tell("killed")
		c.stop(syscall.SIGKILL)
		c.start()
	case 4, 5:
		tell("ended")
		c.stop(syscall.SIGTERM)
		c.start()
	case 6:
		tell("cut")
		c.proxy.Cut()
	case 7:
		tell("partitioned")
		c.must(c.proxy.Refuse())
	case 8:
		tell("throttled")
		c.must(c.process.Process.Signal(syscall.SIGSTOP))
	case 9:
		tell("the disk is full")
		c.limit(uint64(c.rng.IntN(4000)))
	case 10:
		if c.away() {
			tell("the store is away")
		}
	default:
		tell("all is back")
		c.back()
	}
}

// limit has no file of the recorder grow beyond so many bytes.
func (c *campaign) limit(bytes uint64) {
	c.must(unix.Prlimit(c.process.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}, nil))
}

// back ends all that can end.
func (c *campaign) back() {
	c.must(c.proxy.Resume())
	c.must(c.process.Process.Signal(syscall.SIGCONT))
	c.limit(unix.RLIM_INFINITY)
	for _, name := range c.names(c.store() + ".away") {
		c.must(os.Remove(filepath.Join(c.store(), name)))
		c.must(os.Rename(filepath.Join(c.store()+".away", name), filepath.Join(c.store(), name)))
	}
}

// away takes the store's folders away and puts files in their place, so that nothing can be read or written there.
func (c *campaign) away() (any bool) {
	c.must(os.MkdirAll(c.store()+".away", 0o700))
	for _, name := range c.names(c.store()) {
		if info, err := os.Stat(filepath.Join(c.store(), name)); err != nil || !info.IsDir() {
			continue
		}
		c.must(os.Rename(filepath.Join(c.store(), name), filepath.Join(c.store()+".away", name)))
		c.must(os.WriteFile(filepath.Join(c.store(), name), nil, 0o600))
		any = true
	}
	return any
}

// names are those of a folder, none where there is no folder.
func (c *campaign) names(folder string) (names []string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
