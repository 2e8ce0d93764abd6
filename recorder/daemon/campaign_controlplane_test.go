//go:build controlplane && linux

package daemon_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/recorder/store"
	"golang.org/x/sys/unix"
)

// TestCampaigns records rolls that nobody announced, on a real control plane, with the daemon killed, ended, throttled, cut off and
// partitioned, its disk full, its store away, the API server restarted and its history forgotten. What the API server has acknowledged is
// the truth: each write is on a tape, or where the server has forgotten versions in a GAP; and the store has all tapes.
//
// Every other campaign is one of two replicas, as the chart runs them: see [pair].
func TestCampaigns(t *testing.T) {
	n := uint64(5)
	if os.Getenv("NODESIM_SOAK") != "" {
		n = 100
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			if seed%2 == 1 {
				(&pair{T: t, rng: rng}).run(seed)
				return
			}
			(&campaign{recorderProcess: recorderProcess{T: t}, rng: rng}).run(seed)
		})
	}
}

// campaign is one of a recorder that is alone, and keeps its folder.
type campaign struct {
	recorderProcess
	rng      *rand.Rand
	cluster  *testcluster.Cluster
	restarts int  // of the API server, which take seconds
	forgot   bool // what the API server knew of former versions
	story    []string
}

func (c *campaign) start() {
	env := []string{helperEnv + "=" + c.dir, "HELPER_KUBECONFIG=" + c.kube, "HELPER_STORE=" + c.store()}
	if c.rng.IntN(2) == 0 {
		env = append(env, "HELPER_FINISH=1")
	}
	c.recorderProcess.start(env...)
}

func (c *campaign) until(what string, is func() bool) {
	c.Helper()
	until(c.T, what, is, func() string { return fmt.Sprintf("story %q, log:\n%s", c.story, c.said()) })
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
	c.cluster, c.dir = testcluster.Shared(c.T), c.TempDir()
	c.connect(c.cluster)
	c.log = filepath.Join(c.dir, "log")
	c.must(os.Mkdir(c.store(), 0o700))
	nodes := rollNodes(c.T, c.cluster, seed)
	c.start()
	defer func() { _ = c.process.Process.Kill() }() // it may have ended
	c.until("the recording", c.synced)
	nodes.write(nodes.names[0], true)
	// Of a roll whose every sign falls into what the server forgets there is no tape.
	c.until("the roll", func() bool { return c.recorded(nodes.isLast) })
	for i := range 30 {
		nodes.write(nodes.names[c.rng.IntN(3)], i%3 > 0)
		if c.rng.IntN(4) == 0 {
			c.fault()
		}
	}
	for _, name := range nodes.names {
		nodes.write(name, true)
		nodes.write(name, false)
	}
	c.back()
	c.until("the last write on a tape", func() bool { return read(c.T, c.tapes()...).has(nodes.last, nodes.want[nodes.last]) })
	c.until("the tapes in the store", c.stored)
	c.stop(syscall.SIGTERM)
	got := read(c.T, c.tapes()...)
	if lacks := nodes.lacking(got); len(lacks) > 0 {
		c.Errorf("no tape has %q, which the server has acknowledged, and no GAP says so; %d gaps, story %q", lacks, got.gaps, c.story)
	}
	if got.gaps > 0 && !c.forgot {
		c.Errorf("found %d gaps, want none: the server never forgot a version; story %q", got.gaps, c.story)
	}
	c.Logf("%d writes, %d tapes, %d gaps, story %q", len(nodes.want), len(c.tapes()), got.gaps, c.story)
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
	c.must(bringBack(c.store()))
}

// away takes the store's folders away, so that nothing can be read or written there, and reports whether there are any.
func (c *campaign) away() bool {
	some, err := putAway(c.store())
	c.must(err)
	return some
}
