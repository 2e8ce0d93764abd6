package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/localcluster/process"
)

// A ControlPlane is one that runs. Its methods may be called at the same time.
type ControlPlane struct {
	options Options
	pace    Pace
	paths   map[string]string // of the binaries, by component
	port    int
	group   *process.Group
	took    time.Duration

	authority         []byte // PEM
	admin             pair
	config            *rest.Config
	stop              sync.Once
	stopped           error
	ending, watchOver chan struct{} // closed by Stop; closed when the programs aren't watched any more
	done              chan struct{}
	err               error // why it ended by itself; to be read after done
}

// Config is a copy of the administrator's configuration: every right, and no limit of requests on this side. Its
// CAData is the authority that has signed the API server's certificate and those of its clients, such as the one with
// which the API server comes to a kubelet ("kube-apiserver-kubelet-client").
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// KubeconfigPath is the file of the administrator's kubeconfig, mode 0600, which goes away with the control plane.
func (c *ControlPlane) KubeconfigPath() string { return c.group.Path("kubeconfig") }

// URL is where the API is served.
func (c *ControlPlane) URL() string { return c.config.Host }

// Took returns how long the start was, without a build.
func (c *ControlPlane) Took() time.Duration { return c.took }

// LogIn is the log of a component of the control plane in a folder.
func LogIn(folder, component string) string { return filepath.Join(folder, "logs", component+".log") }

// AuditLog is the file of the options, as a whole path, or "".
func (c *ControlPlane) AuditLog() string { return c.options.AuditLog }

// PIDs are the numbers of the processes, by component, for those who measure them.
func (c *ControlPlane) PIDs() map[string]int {
	pids := map[string]int{}
	for _, p := range c.group.Processes() {
		pids[p.Name] = p.PID()
	}
	return pids
}

// Done is closed when a program of the control plane has ended by itself, and Err says then which, with the last lines
// of its log. The others continue until Stop.
func (c *ControlPlane) Done() <-chan struct{} { return c.done }

// Err is described with Done. Before Done is closed it is nil.
func (c *ControlPlane) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// CopyKubeconfig writes the kubeconfig to another file too, mode 0600, which goes away with the control plane as well,
// unless another program has changed it by then. A file that is there already is an error and stays as it is.
func (c *ControlPlane) CopyKubeconfig(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	err = c.group.CopyOut(c.KubeconfigPath(), path)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("kubeconfig %s: is there already: want another file", path)
	}
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return nil
}

// Stop ends the programs cleanly, waits for them, and removes the folder: watches are ended first, nothing is
// saved. It takes about a second. It may be called again, and says the same then.
func (c *ControlPlane) Stop() error {
	c.stop.Do(func() {
		close(c.ending)
		<-c.watchOver
		for _, p := range c.group.Processes() {
			if p.Name == ControllerManager || p.Name == Scheduler {
				p.Terminate() // at the same time; Close waits for both
			}
		}
		c.stopped = c.group.Close()
	})
	return c.stopped
}

// watch closes done when a program has ended by itself.
func (c *ControlPlane) watch(programs []*process.Process) {
	ended := make(chan *process.Process, len(programs))
	var all sync.WaitGroup
	for _, p := range programs {
		all.Go(func() {
			select {
			case <-p.Done():
				ended <- p
			case <-c.ending:
			}
		})
	}
	go func() {
		defer close(c.watchOver)
		select {
		case p := <-ended:
			c.err = p.Alive()
			close(c.done)
		case <-c.ending:
		}
		<-c.ending
		all.Wait()
	}()
}

// until waits for a condition, and for nothing any more when one of the programs has ended.
func (c *ControlPlane) until(ctx context.Context, what string, programs []*process.Process, ok func(context.Context) bool) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok(ctx) {
			return nil
		}
		for _, p := range programs {
			if err := p.Alive(); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
