//go:build controlplane

package live_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/internal/controlplane"
	"github.com/nodesim/nodesim/internal/simulate"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
)

// speed is that of the tests' control plane and of most of their performances.
const speed = 60

var shared struct {
	once  sync.Once
	plane *controlplane.ControlPlane
	err   error
}

// plane is the one control plane of the package's tests, which use it one after
// the other: a performance wants a cluster for itself.
func plane(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	shared.once.Do(func() {
		folder, err := os.MkdirTemp("", "nodesim-live-audit-")
		if err != nil {
			shared.err = err
			return
		}
		shared.plane, shared.err = controlplane.Start(context.Background(), controlplane.Options{
			Speed: speed, AuditLog: filepath.Join(folder, "audit.log"),
		})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.plane
}

func TestMain(m *testing.M) {
	code := m.Run()
	if p := shared.plane; p != nil {
		if err := p.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		if err := os.RemoveAll(filepath.Dir(p.AuditLog())); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// scenario is a shipped scenario with values.
func scenario(t *testing.T, name string, set ...string) *scenarios.File {
	t.Helper()
	s, err := simulate.Find(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := simulate.Resolve(s, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	return src.File
}

// performer is one on the shared control plane, which says to the test how it goes.
func performer(t *testing.T, f *scenarios.File, opts ...live.Option) *live.Performer {
	t.Helper()
	p := plane(t)
	opts = append([]live.Option{
		live.Speed(speed), live.RenewEvery(10 * time.Second / speed),
		live.OnWarning(func(err error) { t.Log(time.Now().Format("05.000"), err) }),
		live.OnProgress(func(p live.Progress) { t.Log(time.Now().Format("05.000"), p.Phase, p.At, p.Waiting) }),
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
