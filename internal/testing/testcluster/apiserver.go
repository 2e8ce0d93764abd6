package testcluster

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// StopAPIServer ends kube-apiserver cleanly: it finishes the requests that it has and closes its watches. The
// port refuses connections until StartAPIServer. etcd continues.
func (c *Cluster) StopAPIServer() error {
	c.server.Lock()
	defer c.server.Unlock()
	if err := c.env.ControlPlane.APIServer.Stop(); err != nil {
		return fmt.Errorf("stop kube-apiserver: %w", err)
	}
	return nil
}

// KillAPIServer ends kube-apiserver with SIGKILL: requests under way may or may not have reached etcd, watches break
// in the middle of a frame. It returns when the process is reaped.
func (c *Cluster) KillAPIServer(ctx context.Context) error {
	c.server.Lock()
	defer c.server.Unlock()
	pid, err := c.group.PID("kube-apiserver")
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill kube-apiserver: %w", err)
	}
	return poll(ctx, 2*time.Millisecond, "kube-apiserver to die", func(context.Context) (bool, error) {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH), nil
	})
}

// StartAPIServer starts kube-apiserver again, on the same port, with the same certificates, users and flags over the
// same etcd, and returns when it is ready. Every rest.Config of this cluster continues working.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	c.server.Lock()
	defer c.server.Unlock()
	if err := c.env.ControlPlane.APIServer.Start(); err != nil {
		return fmt.Errorf("start kube-apiserver again: %w", err)
	}
	return c.untilReady(ctx)
}

// RestartAPIServer is StopAPIServer and StartAPIServer.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	if err := c.StopAPIServer(); err != nil {
		return err
	}
	return c.StartAPIServer(ctx)
}

// CrashAPIServer is KillAPIServer and StartAPIServer.
func (c *Cluster) CrashAPIServer(ctx context.Context) error {
	if err := c.KillAPIServer(ctx); err != nil {
		return err
	}
	return c.StartAPIServer(ctx)
}

// APIServerPID is the number of kube-apiserver's process now, for those who count what it costs.
func (c *Cluster) APIServerPID() (int, error) { return c.group.PID("kube-apiserver") }
