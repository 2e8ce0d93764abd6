//go:build controlplane

package live_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/internal/localcluster"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
)

// speed is that of the tests' control plane and of most of their live runs.
const speed = 60

// planes are the control planes of the package's tests. A live run wants a cluster for itself, so a test has one while it
// runs; as many run at once as there are.
var planes = struct {
	free chan *localcluster.ControlPlane // nil is one that has not been started
	mu   sync.Mutex
	of   map[string]*localcluster.ControlPlane // by the name of a test
	all  []*localcluster.ControlPlane
}{free: make(chan *localcluster.ControlPlane, 2), of: map[string]*localcluster.ControlPlane{}}

func init() {
	for range cap(planes.free) {
		planes.free <- nil
	}
}

// plane returns the control plane that a test and its subtests have, until the one that asked first ends.
func plane(t *testing.T) *localcluster.ControlPlane {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	planes.mu.Lock()
	has := planes.of[name]
	planes.mu.Unlock()
	if has != nil {
		return has
	}
	p := <-planes.free
	if p == nil {
		p = startPlane(t)
	}
	planes.mu.Lock()
	planes.of[name] = p
	planes.mu.Unlock()
	t.Cleanup(func() {
		planes.mu.Lock()
		delete(planes.of, name)
		planes.mu.Unlock()
		planes.free <- p
	})
	return p
}

func startPlane(t *testing.T) *localcluster.ControlPlane {
	t.Helper()
	fail := func(err error) {
		planes.free <- nil
		t.Fatal(err)
	}
	folder, err := tempFolder()
	if err != nil {
		fail(err)
	}
	planes.mu.Lock()
	log := filepath.Join(folder, fmt.Sprintf("audit-%d.log", len(planes.all)))
	planes.all = append(planes.all, nil)
	at := len(planes.all) - 1
	planes.mu.Unlock()
	p, err := localcluster.Start(context.Background(), localcluster.Options{Speed: speed, AuditLog: log})
	if err != nil {
		fail(err)
	}
	planes.mu.Lock()
	planes.all[at] = p
	planes.mu.Unlock()
	return p
}

// tempFolder is a folder that goes away with the package's tests.
var tempFolder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "nodesim-live-test-") })

func TestMain(m *testing.M) {
	code := m.Run()
	for _, p := range planes.all {
		if p == nil {
			continue
		}
		if err := p.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	if folder, err := tempFolder(); err == nil {
		if err := os.RemoveAll(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// swept has a test that fails leave nothing to the next one.
func swept(t *testing.T, f *scenarios.File) {
	t.Helper()
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		p, err := live.New(plane(t).Config(), f)
		if err == nil {
			_, err = p.Cleanup(context.Background())
		}
		if err != nil {
			t.Log(err)
		}
	})
}

// patient is the file of a shipped scenario whose roll waits as long as it takes: a
// minute of kube-controller-manager's that no speed divides (PodGC's, say) is an
// hour of a scenario, and a machine may be slow.
func patient(t *testing.T, name string) string {
	t.Helper()
	s, err := simulate.Find(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := s.Document.Text()
	for _, limit := range []string{"evictionTimeout", "joinTimeout"} {
		inPlace := strings.Contains(text, "strategy: inplace-") // has no evictions
		if !inPlace && !strings.Contains(text, limit+":") {
			text = strings.Replace(text, "\nroll:\n", "\nroll:\n  "+limit+": 0s\n", 1)
		}
	}
	path := filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// scenario is a shipped scenario with values, and patient.
func scenario(t *testing.T, name string, set ...string) *scenarios.File {
	t.Helper()
	s, err := simulate.Find(patient(t, name), nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := simulate.Resolve(s, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	return src.File
}

// newRunner is one on the shared control plane, which says to the test how it goes.
func newRunner(t *testing.T, f *scenarios.File, opts ...live.Option) *live.Runner {
	t.Helper()
	p := plane(t)
	check(t, p.Config())
	swept(t, f)
	opts = append([]live.Option{
		live.Speed(speed),
		live.KubeletClients(p.Config().CAData),
		live.OnWarning(func(err error) { t.Log(time.Now().Format("05.000"), err) }),
		live.OnMark(func(name, reason string) { t.Log("mark:", name, reason) }),
	}, opts...)
	made, err := live.New(p.Config(), f, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func client(t *testing.T) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(plane(t).Config())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// An outcome is what a live run comes to.
type outcome struct {
	report live.Report
	err    error
}

// begin runs the scenario beside the test, and returns once the scenario has begun.
func begin(ctx context.Context, t *testing.T, p *live.Runner, began <-chan struct{}) <-chan outcome {
	t.Helper()
	done := make(chan outcome, 1)
	go func() {
		report, err := p.Run(ctx)
		done <- outcome{report, err}
	}()
	select {
	case <-began:
	case e := <-done:
		t.Fatal(e.err)
	}
	return done
}
