//go:build controlplane && linux

package daemon_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/recorder/store"
)

// pair is a campaign of two replicas that elect which of them makes tapes. The roll that they record evicts them, one after the other, and
// what is in their folders goes with their pods; they are cut off, partitioned and throttled too. The API server forgets nothing, so each
// write that it has acknowledged is on a tape in the store, there is no GAP, and each tape there is whole.
type pair struct {
	*testing.T
	rng      *rand.Rand
	nodes    *rolledNodes
	replicas [2]*replica
	bucket   string // the folder of the store
	copies   string // that of the tapes which were taken from it
	story    []string
}

func (c *pair) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *pair) tell(what string, r *replica) {
	c.story = append(c.story, what+": "+r.name)
}

func (c *pair) until(what string, is func() bool) {
	c.Helper()
	until(c.T, what, is, func() string {
		told := fmt.Sprintf("story %q", c.story)
		for _, r := range c.replicas {
			told += fmt.Sprintf(", log of the %s replica:\n%s", r.name, r.said())
		}
		return told
	})
}

// pick is one of the nodes.
func (c *pair) pick() string { return c.nodes.names[c.rng.IntN(len(c.nodes.names))] }

func (c *pair) run(seed uint64) {
	cluster := testcluster.Shared(c.T)
	c.bucket, c.copies = c.TempDir(), c.TempDir()
	c.nodes = rollNodes(c.T, cluster, seed)
	for i, name := range []string{"first", "second"} {
		r := &replica{recorderProcess: recorderProcess{T: c.T, dir: c.TempDir()}, name: name, logs: c.TempDir()}
		r.connect(cluster)
		r.env = []string{replicaEnv + "=" + r.dir, "HELPER_KUBECONFIG=" + r.kube, "HELPER_STORE=" + c.bucket, fmt.Sprintf("HELPER_LEASE=default/campaign-%d", seed)}
		r.begin()
		c.Cleanup(func() { _, _ = r.process.Process.Kill(), r.process.Wait() }) // it may have ended
		c.replicas[i] = r
	}
	c.until("both recordings", func() bool { return c.replicas[0].synced() && c.replicas[1].synced() })
	c.nodes.write(c.nodes.names[0], true)
	for i := range 30 {
		if i == 15 {
			c.evict(c.leader())
		}
		c.nodes.write(c.pick(), i%3 > 0)
		if c.rng.IntN(4) == 0 {
			c.fault()
		}
	}
	c.back()
	for _, cordoned := range []bool{false, true, false} {
		for _, name := range c.nodes.names {
			c.nodes.write(name, cordoned)
		}
	}
	known := map[string]bool{}
	c.until("the last write on the tape of a whole roll in the store", func() bool {
		return read(c.T, c.fetch(func(t store.Tape) bool {
			fresh := t.Outcome == trigger.Complete && !known[t.Name]
			known[t.Name] = true
			return fresh
		})...).versions[c.nodes.last]
	})
	tapes := c.fetch(func(store.Tape) bool { return true })
	got := read(c.T, tapes...)
	if lacks := c.nodes.lacking(got); len(lacks) > 0 {
		c.Errorf("no tape has %q, which the server has acknowledged; %d gaps, story %q", lacks, got.gaps, c.story)
	}
	if got.gaps > 0 {
		c.Errorf("found %d gaps, want none: the server never forgot a version; story %q", got.gaps, c.story)
	}
	for _, r := range c.replicas {
		c.end(r)
	}
	c.Logf("%d writes, %d tapes, story %q", len(c.nodes.want), len(tapes), c.story)
}

func (c *pair) fault() {
	r := c.replicas[c.rng.IntN(len(c.replicas))]
	switch c.rng.IntN(6) {
	case 0, 1:
		c.evict(r)
	case 2:
		c.tell("cut", r)
		r.proxy.Cut()
	case 3:
		c.tell("partitioned", r)
		c.must(r.proxy.Refuse())
	case 4:
		c.tell("throttled", r)
		c.must(r.process.Process.Signal(syscall.SIGSTOP))
	default:
		c.story = append(c.story, "all is back")
		c.back()
	}
}

// back ends all that can end.
func (c *pair) back() {
	for _, r := range c.replicas {
		c.must(r.proxy.Resume())
		c.must(r.process.Process.Signal(syscall.SIGCONT))
	}
}

// evict ends a replica as the drain of its node does, and begins another one in its place. The other replica is there meanwhile, as the
// chart's budget wants it, and the roll continues. The new pod begins once the other replica leads: had it to make the tapes from then on, what
// was while it wasn't there would be on none.
func (c *pair) evict(r *replica) {
	other := c.replicas[0]
	if other == r {
		other = c.replicas[1]
	}
	c.back()
	drained := c.pick()
	c.nodes.write(drained, false)
	c.nodes.write(drained, true) // so that for both the roll is on
	c.until("the cordon in both recordings", func() bool { return r.recorded(c.nodes.isLast) && other.recorded(c.nodes.isLast) })
	if r.leads() {
		c.tell("the leader is evicted", r)
	} else {
		c.tell("evicted", r)
	}
	c.end(r)
	c.must(os.RemoveAll(r.dir))
	c.must(os.Mkdir(r.dir, 0o755))
	for range 2 {
		c.nodes.write(c.pick(), c.rng.IntN(2) == 0)
	}
	c.until("the other replica to lead", other.leads)
	r.begin()
	c.until("the recording of the new pod", r.synced)
}

// end ends a replica as a kubelet does: by SIGTERM, and by SIGKILL where the chart's time isn't enough.
func (c *pair) end(r *replica) {
	c.Helper()
	process := r.process.Process
	late := time.AfterFunc(40*time.Second, func() { _ = process.Kill() }) // it may have ended
	r.stop(syscall.SIGTERM)
	late.Stop()
	if is := r.process.ProcessState; !is.Success() {
		c.Errorf("the %s replica, ended by SIGTERM: found %s, want status 0 within 40 s; story %q, log:\n%s", r.name, is, c.story, r.said())
	}
}

// leader is the replica that makes tapes.
func (c *pair) leader() (r *replica) {
	c.back()
	c.until("a leader", func() bool {
		i := slices.IndexFunc(c.replicas[:], (*replica).leads)
		if i >= 0 {
			r = c.replicas[i]
		}
		return i >= 0
	})
	return r
}

// fetch takes tapes from the store, each whole by its checksum, and returns their files.
func (c *pair) fetch(wanted func(store.Tape) bool) (files []string) {
	s, err := store.Open(c.Context(), "file://"+c.bucket)
	c.must(err)
	defer func() { c.must(s.Close()) }()
	tapes, skipped, err := s.List(c.Context(), store.Query{})
	c.must(errors.Join(append(skipped, err)...))
	for _, t := range tapes {
		if !wanted(t) {
			continue
		}
		f, err := os.Create(filepath.Join(c.copies, t.File()))
		c.must(err)
		c.must(errors.Join(s.Get(c.Context(), t, f), f.Close()))
		files = append(files, f.Name())
	}
	return files
}

// replica is a recorder in a pod of its own, one after the other.
type replica struct {
	recorderProcess
	name string
	env  []string
	logs string // the folder of what each pod says
	pods int    // that there were
}

// begin starts a pod.
func (r *replica) begin() {
	r.pods++
	r.log = filepath.Join(r.logs, fmt.Sprint(r.pods))
	r.start(r.env...)
}

// leads reports whether the pod makes tapes, as it has said.
func (r *replica) leads() bool {
	said := r.said()
	return strings.LastIndex(said, "this recorder makes tapes from now on") > strings.LastIndex(said, "this recorder stands by from now on")
}
