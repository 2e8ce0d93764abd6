//go:build controlplane

package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/localcluster/assets"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/live"
)

// A process is measured by what the kernel says of it (proc(5)).
type process struct{ pid int }

// spent is its CPU time. The kernel counts it in hundredths of a second.
func (p process) spent(tb testing.TB) time.Duration {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		tb.Fatal(err)
	}
	// The name, in brackets, may have spaces; utime and stime are fields 14 and 15.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// memory returns its resident memory, now and at its most, in megabytes. Its own is the part that isn't the program
// file's: of that the kernel may count all, where it maps it in huge pages.
func (p process) memory(tb testing.TB) (now, most, own float64) {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		kilobytes, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		switch name {
		case "VmRSS":
			now = kilobytes * 1024 / 1e6
		case "VmHWM":
			most = kilobytes * 1024 / 1e6
		case "RssAnon":
			own = kilobytes * 1024 / 1e6
		}
	}
	return now, most, own
}

// A rival is a program that keeps nodes alive.
type rival struct {
	process
	cmd   *exec.Cmd
	err   *bytes.Buffer
	begun func(context.Context) bool // whether pods may come
	ended chan struct{}
	why   error // after ended

	beside []*rival // processes that share its work
	peer   bool     // its figures are told, and not judged
}

// over is closed when the first of its processes has ended.
func (c *rival) over() <-chan struct{} {
	over, once := make(chan struct{}), sync.Once{}
	for _, one := range append([]*rival{c}, c.beside...) {
		go func() {
			<-one.ended
			once.Do(func() { close(over) })
		}()
	}
	return over
}

// spent is the CPU time of all of its processes.
func (c *rival) spent(tb testing.TB) time.Duration {
	tb.Helper()
	all := c.process.spent(tb)
	for _, other := range c.beside {
		all += other.spent(tb)
	}
	return all
}

// contend starts a program that ends with the benchmark.
func contend(tb testing.TB, path string, args []string, env ...string) *rival {
	tb.Helper()
	var said bytes.Buffer
	c := contendTo(tb, &said, path, args, env...)
	c.err = &said
	return c
}

// contendTo is contend with a place for what the program says.
func contendTo(tb testing.TB, says io.Writer, path string, args []string, env ...string) *rival {
	tb.Helper()
	c := &rival{
		cmd: exec.Command(path, args...), err: &bytes.Buffer{}, begun: func(context.Context) bool { return true }, ended: make(chan struct{}),
	}
	c.cmd.Stderr = says
	c.cmd.Env = append(os.Environ(), env...)
	if err := c.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	c.pid = c.cmd.Process.Pid
	go func() {
		defer close(c.ended)
		c.why = c.cmd.Wait()
	}()
	tb.Cleanup(func() {
		_ = c.cmd.Process.Kill() // it may have ended
		<-c.ended
		if tb.Failed() {
			tb.Logf("%s: %s", filepath.Base(path), lastLines(c.err.String(), 20))
		}
	})
	return c
}

// end interrupts the program and waits for it. That it says that it was interrupted is as it should be.
func (c *rival) end(tb testing.TB) {
	tb.Helper()
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		tb.Error(err)
	}
	<-c.ended
	for _, other := range c.beside {
		other.end(tb)
	}
	var exit *exec.ExitError
	if c.why != nil && !errors.As(c.why, &exit) {
		tb.Error(c.why)
	}
	if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() != syscall.SIGINT {
		tb.Errorf("%s ended by %s", c.cmd.Path, status.Signal())
	}
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// nodesimOf has nodesim keep the nodes, with kubelets of that kind.
func nodesimOf(kubelet string) func(context.Context, testing.TB, *liveRig, int) *rival {
	return func(ctx context.Context, tb testing.TB, r *liveRig, nodes int) *rival {
		return startNodesim(ctx, tb, r, kubelet, nodes)
	}
}

// build builds the program as it is built for people, and returns its path.
func build(tb testing.TB) string {
	tb.Helper()
	bin := filepath.Join(tb.TempDir(), "nodesim")
	if out, err := exec.CommandContext(tb.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, "..").CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// startNodesim runs the scenario of so many nodes live.
func startNodesim(ctx context.Context, tb testing.TB, r *liveRig, kubelet string, nodes int, more ...string) *rival {
	tb.Helper()
	// --keep, since the control plane is thrown away whole.
	c := contend(tb, build(tb), append([]string{
		"simulate", filepath.Join("testdata", "live", "thousand.yaml"), "--set", "kubelet=" + kubelet, "--set", fmt.Sprint("nodes=", nodes),
		"--live", "--keep", "--kubeconfig", r.plane.KubeconfigPath(), "-o", "feed",
	}, more...))
	c.begun = func(ctx context.Context) bool {
		record, err := r.client.CoordinationV1().Leases(live.RecordNamespace).Get(ctx, live.RecordName, metav1.GetOptions{})
		return err == nil && record.Annotations["nodesim.dev/begun"] == "true"
	}
	return c
}

// startKwok starts kwok with stages that wait for nothing, and creates its nodes.
func startKwok(ctx context.Context, tb testing.TB, r *liveRig, nodes int) *rival {
	tb.Helper()
	kwok, err := assets.Find("kwok")
	if err != nil {
		tb.Fatal(err)
	}
	home := tb.TempDir()
	stages, err := testcluster.KwokStages(testcluster.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	config := filepath.Join(home, "stages.yaml")
	if err := os.WriteFile(config, stages, 0o600); err != nil {
		tb.Fatal(err)
	}
	c := contend(tb, kwok, []string{
		"--kubeconfig=" + r.plane.KubeconfigPath(), "--config=" + config, "--manage-all-nodes=true",
		fmt.Sprintf("--node-lease-duration-seconds=%d", int(oldestLease.Seconds())),
	}, "KWOK_WORKDIR="+home, "HOME="+home)
	c.peer = true
	inParallel(tb, nodes, func(i int) error {
		_, err := r.client.CoreV1().Nodes().Create(ctx, kwokNode(i), metav1.CreateOptions{})
		return err
	})
	return c
}

func kwokNode(i int) *corev1.Node {
	name := fmt.Sprintf("kwok-%04d", i)
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: quantity.MustParse("8"), corev1.ResourceMemory: quantity.MustParse("16Gi"), corev1.ResourcePods: quantity.MustParse("58"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux", corev1.LabelHostname: name, corev1.LabelInstanceTypeStable: "m6i.large",
		}},
		Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity.DeepCopy()},
	}
}
