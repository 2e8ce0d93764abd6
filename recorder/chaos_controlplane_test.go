//go:build controlplane

package recorder_test

import (
	"bufio"
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
	"sync"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/timeline"
)

// seeds is the number of campaigns there are; NODESIM_SOAK makes it 200, and
// NODESIM_SEED picks one.
func seeds(t *testing.T) (list []uint64) {
	if one := os.Getenv("NODESIM_SEED"); one != "" {
		n, err := strconv.ParseUint(one, 10, 64)
		if err != nil {
			t.Fatalf("NODESIM_SEED: %v", err)
		}
		return []uint64{n}
	}
	n := uint64(20)
	if os.Getenv("NODESIM_SOAK") != "" {
		n = 200
	}
	for seed := range n {
		list = append(list, seed)
	}
	return list
}

// TestChaos checks the promise of the package against a real control plane:
// whatever happens to the server, the connection, the process and the disk,
// each write that the server has acknowledged is on the tape or in a GAP,
// nothing is there twice, and there is no GAP unless the server had forgotten
// the version: after a compaction, or, with a watch cache, after a restart.
func TestChaos(t *testing.T) {
	// Campaigns need a cluster for themselves: one with a watch cache, and two without for three times as many.
	lanes := map[string][]uint64{}
	for _, seed := range seeds(t) {
		lane := "cache"
		if seed%4 != 3 {
			lane = fmt.Sprintf("no-cache-%d", seed%2)
		}
		lanes[lane] = append(lanes[lane], seed)
	}
	for lane, seeds := range lanes {
		t.Run(lane, func(t *testing.T) {
			t.Parallel()
			cache := lane == "cache"
			c, err := testcluster.Start(testcluster.Options{NoWatchCache: !cache})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.Stop(); err != nil {
					t.Error(err)
				}
			}()
			installWidgets(t, c)
			for _, seed := range seeds {
				t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { newCampaign(t, c, seed, cache).run() })
			}
		})
	}
}

// campaign is one recording under fire.
type campaign struct {
	t       *testing.T
	seed    uint64
	rng     *rand.Rand
	cluster *testcluster.Cluster
	proxy   *testcluster.Proxy
	cache   bool
	load    *load
	tape    string
	kube    string

	forgot  bool // the window of watches was lost at least once
	process *exec.Cmd
	output  *bufio.Reader
	faults  sync.WaitGroup
	story   []string
}

func newCampaign(t *testing.T, c *testcluster.Cluster, seed uint64, cache bool) *campaign {
	rng := rand.New(rand.NewPCG(seed, 2))
	k := &campaign{t: t, seed: seed, rng: rng, cluster: c, cache: cache, proxy: c.Proxy(t), load: newLoad(t, c, seed)}
	dir := t.TempDir()
	k.tape, k.kube = filepath.Join(dir, "tape.yaml"), filepath.Join(dir, "kubeconfig")
	if err := testcluster.WriteKubeconfig(k.kube, k.proxy.Config(c.Config())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d (NODESIM_SEED=%d repeats it), watch cache %t:\n%s", seed, seed, cache, strings.Join(k.story, "\n"))
		}
	})
	return k
}

func (k *campaign) tell(format string, args ...any) {
	k.story = append(k.story, fmt.Sprintf("after %d writes: ", len(k.load.acked))+fmt.Sprintf(format, args...))
}

func (k *campaign) run() {
	k.load.writes(k.rng, 10)
	k.load.begin()
	limit := ""
	if k.rng.IntN(4) == 0 {
		limit = strconv.Itoa(20_000 + k.rng.IntN(30_000))
	}
	k.start(limit)
	restarts := 0
	for range 3 {
		k.load.writes(k.rng, 10+k.rng.IntN(15))
		fault := k.rng.IntN(9)
		if fault < 3 && restarts == 1 { // they take seconds
			fault += 3
		}
		k.fault(fault)
		if fault < 3 {
			restarts++
		}
		k.load.writes(k.rng, 10+k.rng.IntN(15))
		k.faults.Wait()
		if k.process.ProcessState == nil && k.died() {
			k.resume()
		}
	}
	k.load.end()
	k.await()
	k.load.clean()
	k.check()
}

// start starts the recorder and waits until its tape is open.
func (k *campaign) start(limit string) {
	k.process = startHelper(k.t, "record", "HELPER_KUBECONFIG="+k.kube, "HELPER_TAPE="+k.tape, "HELPER_END="+k.load.name("end"),
		"HELPER_RESOURCES="+strings.Join(kinds(), ","), "HELPER_LIMIT="+limit)
	out, err := k.process.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := k.process.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.tell("recording starts (limit %q)", limit)
	k.output = bufio.NewReader(out)
	line, err := k.output.ReadString('\n')
	if err != nil || line != "recording\n" {
		k.t.Fatalf("found %q, %v from the recorder, want that it records", line, err)
	}
}

// died reports whether the recorder has met the limit of its disk: there is
// no other reason for it to end before it is killed. It does not wait.
func (k *campaign) died() bool {
	info, err := os.Stat(k.tape)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, env := range k.process.Env {
		if limit, ok := strings.CutPrefix(env, "HELPER_LIMIT="); ok && limit != "" {
			n, _ := strconv.ParseInt(limit, 10, 64)
			return info.Size() > n-8_000 // it may live, but the next object doesn't fit; resume kills it then
		}
	}
	return false
}

// resume ends the recorder, if it lives, and appends.
func (k *campaign) resume() {
	_ = k.process.Process.Kill() // it may be dead
	rest, _ := io.ReadAll(k.output)
	err := k.process.Wait()
	k.tell("the recorder is dead: %v %s", err, rest)
	if k.process.ProcessState.ExitCode() > 0 && !strings.Contains(string(rest), "file too large") {
		k.t.Errorf("the recorder ended with %q, want that it is killed or meets its limit", rest)
	}
	k.readable()
	k.start("")
}

// readable checks what a killed recorder has left.
func (k *campaign) readable() {
	r, err := timeline.Open(k.tape)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, err := range r.All() {
		if err != nil {
			k.t.Fatalf("read what a dead recorder has left: %v", err)
		}
	}
	if err := r.Close(); err != nil {
		k.t.Fatal(err)
	}
}

// fault does one thing that can happen.
func (k *campaign) fault(n int) {
	ctx := context.WithoutCancel(k.t.Context())
	background := func(f func() error) {
		k.faults.Go(func() {
			if err := f(); err != nil {
				k.t.Error(err)
			}
		})
	}
	switch n {
	case 0:
		k.tell("the API server restarts")
		k.forgot = k.forgot || k.cache
		background(func() error {
			if k.cache {
				return k.cluster.RestartAPIServer(ctx)
			}
			// Without the watch cache nothing ends the watches of a server
			// that stops; it would wait for them for a minute.
			return errors.Join(k.proxy.Refuse(), k.cluster.RestartAPIServer(ctx), k.proxy.Resume())
		})
	case 1:
		k.tell("the API server crashes")
		k.forgot = k.forgot || k.cache
		background(func() error { return k.cluster.CrashAPIServer(ctx) })
	case 2:
		k.tell("etcd is compacted while no one watches")
		k.forgot = true
		background(func() error {
			if err := k.proxy.Refuse(); err != nil {
				return err
			}
			if _, err := k.cluster.ExpireWatches(ctx); err != nil {
				return err
			}
			return k.proxy.Resume()
		})
	case 3:
		k.tell("every connection is cut")
		k.proxy.Cut()
	case 4, 5:
		n := int64(k.rng.IntN(20_000))
		k.tell("every connection is cut in %d bytes", n)
		k.proxy.CutAfter(n)
	case 6:
		k.tell("the network refuses connections")
		if err := k.proxy.Refuse(); err != nil {
			k.t.Error(err)
		}
		k.load.writes(k.rng, 10)
		if err := k.proxy.Resume(); err != nil {
			k.t.Error(err)
		}
	default:
		k.tell("the recorder is killed")
		_ = k.process.Process.Kill()
		k.load.writes(k.rng, k.rng.IntN(10))
		k.resume()
	}
}

// await waits until the recorder has seen the end of every resource.
func (k *campaign) await() {
	done := make(chan error, 1)
	go func() {
		rest, _ := io.ReadAll(k.output)
		err := k.process.Wait()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, rest)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			return
		}
		k.tell("the recorder ended: %v", err)
		if !strings.Contains(err.Error(), "file too large") {
			k.t.Fatalf("the recorder failed: %v", err)
		}
		k.readable()
		k.start("")
		k.await()
	case <-time.After(5 * time.Minute):
		_ = k.process.Process.Kill()
		k.t.Fatalf("the recorder did not see the end of every resource within five minutes; killed: %v", <-done)
	}
}

// check checks the tape against the acknowledged writes.
func (k *campaign) check() {
	found := readTape(k.t, k.tape)
	if !found.complete {
		k.t.Error("found no END on the tape")
	}
	for _, fault := range found.faults {
		k.t.Error(fault)
	}
	for _, w := range k.load.acked {
		if !found.has(w) {
			k.t.Errorf("acknowledged %s of %s %s (uid %s, version %s): not on the tape, and no GAP says so", w.typ, w.resource, w.name, w.uid, w.version)
		}
	}
	if found.gaps > 0 && !k.forgot {
		k.t.Errorf("found %d GAPs, want none: the server never forgot a version", found.gaps)
	}
	if k.t.Failed() {
		if text, err := os.ReadFile(k.tape); err == nil {
			name := filepath.Join(os.TempDir(), fmt.Sprintf("nodesim-chaos-seed-%d.yaml", k.seed))
			k.t.Logf("the tape is kept: %s (%v)", name, os.WriteFile(name, text, 0o600))
		}
	}
}

// onTape holds what a tape says, in the terms of the promise.
type onTape struct {
	changes  map[string]bool     // "resource uid version"
	deleted  map[string]bool     // "resource uid"
	lost     map[string][][2]int // by resource: versions above the first, up to the second, may be missing
	faults   []string
	gaps     int
	complete bool
}

func readTape(t *testing.T, file string) *onTape {
	t.Helper()
	r, err := timeline.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	o := &onTape{changes: map[string]bool{}, deleted: map[string]bool{}, lost: map[string][][2]int{}}
	last, open, synced := map[string]int{}, map[string]bool{}, map[string]bool{}
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		version, _ := strconv.Atoi(ev.RV)
		switch {
		case ev.Type == timeline.Gap:
			o.gaps++
			open[ev.Resource] = true
			o.lost[ev.Resource] = append(o.lost[ev.Resource], [2]int{last[ev.Resource], 1 << 60})
			if synced[ev.Resource] && !strings.HasPrefix(ev.Reason, "410 ") && !strings.Contains(ev.Reason, "inside of a list") {
				o.faults = append(o.faults, "a GAP for another reason than 410: "+ev.Reason)
			}
		case ev.Type == timeline.Sync:
			if version < last[ev.Resource] {
				o.faults = append(o.faults, fmt.Sprintf("SYNC of %s at %d after %d", ev.Resource, version, last[ev.Resource]))
			}
			if open[ev.Resource] {
				gaps := o.lost[ev.Resource]
				gaps[len(gaps)-1][1] = version
			}
			open[ev.Resource], synced[ev.Resource], last[ev.Resource] = false, true, version
		case ev.Type.Object():
			id := ev.Resource + " " + ev.UID
			if ev.Type == timeline.Deleted {
				o.deleted[id] = true
			} else if o.changes[id+" "+ev.RV] {
				o.faults = append(o.faults, fmt.Sprintf("%s %s at version %s is there twice", ev.Resource, ev.Name, ev.RV))
			} else {
				o.changes[id+" "+ev.RV] = true
			}
			if synced[ev.Resource] && !open[ev.Resource] {
				if version <= last[ev.Resource] {
					o.faults = append(o.faults, fmt.Sprintf("%s %s at version %d after %d", ev.Resource, ev.Name, version, last[ev.Resource]))
				}
				last[ev.Resource] = version
			}
		}
	}
	o.complete = r.Complete()
	return o
}

func (o *onTape) has(w write) bool {
	id := w.resource + " " + w.uid
	if w.typ == "DELETED" && o.deleted[id] || w.typ != "DELETED" && o.changes[id+" "+w.version] {
		return true
	}
	version, _ := strconv.Atoi(w.version)
	return slices.ContainsFunc(o.lost[w.resource], func(gap [2]int) bool { return gap[0] < version && version <= gap[1] })
}
