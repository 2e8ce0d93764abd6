package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/apischeme"
	"github.com/nodesim/nodesim/internal/localcluster/assets"
	"github.com/nodesim/nodesim/internal/localcluster/process"
)

// patience bounds a start. It is generous: several may start on few cores that do other work, and a program that ends is
// noticed at once.
const patience = 20 * time.Minute

// Start finds, downloads or builds the programs, starts them, and returns when pods can be created, which takes about six seconds
// on two cores. The caller must call Stop. ctx bounds the start alone. A start that fails leaves nothing behind, and its
// error ends in the last lines of the log of the program that is to blame.
func Start(ctx context.Context, o Options) (_ *ControlPlane, err error) {
	if err := process.Possible(); err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}
	if o, err = o.complete(); err != nil {
		return nil, err
	}
	if o.Port != 0 {
		if err := process.CheckPort(o.Port); err != nil {
			return nil, fmt.Errorf("control plane: %w", err)
		}
	}
	found, err := assets.Supply{Kubernetes: o.Kubernetes, Offline: o.Offline, Log: o.Log}.Provide(ctx, Components()...)
	if err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}
	began := time.Now()
	paths := map[string]string{}
	for i, name := range Components() {
		if paths[name], err = filepath.Abs(found[i]); err != nil {
			return nil, fmt.Errorf("control plane: %w", err)
		}
	}
	if o.Folder == "" {
		if o.Folder, err = os.MkdirTemp("", "nodesim-cluster-"); err != nil {
			return nil, fmt.Errorf("control plane: %w", err)
		}
	}
	c := &ControlPlane{
		options: o, pace: PaceAt(o.Speed), paths: paths,
		ending: make(chan struct{}), watchOver: make(chan struct{}), done: make(chan struct{}),
	}
	if c.group, err = process.NewGroup(o.Folder); err != nil {
		return nil, fmt.Errorf("control plane: %w", errors.Join(err, os.RemoveAll(o.Folder)))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not there within %s", patience))
	defer cancel()
	if err := c.start(ctx); err != nil {
		return nil, fmt.Errorf("control plane: %w", errors.Join(err, c.group.Close()))
	}
	c.watch(c.group.Processes())
	c.took = time.Since(began)
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context) error {
	if err := c.identities(); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"audit-policy.yaml": []byte(auditPolicy), "scheduler.yaml": c.schedulerFile()} {
		if err := os.WriteFile(c.group.Path(name), text, 0o600); err != nil {
			return err
		}
	}
	if _, err := c.run(Etcd, c.etcdFlags()); err != nil {
		return err
	}
	client, leave, err := c.serve(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := c.run(ControllerManager, c.controllerManagerFlags()); err != nil {
		return err
	}
	if _, err := c.run(Scheduler, c.schedulerFlags()); err != nil {
		return err
	}
	return c.until(ctx, ControllerManager+" to make the first service account", c.group.Processes(), func(ctx context.Context) bool {
		_, err := client.Get().AbsPath("/api/v1/namespaces/default/serviceaccounts/default").DoRaw(ctx)
		return err == nil
	})
}

// serve starts kube-apiserver and waits until it is ready. Between the search for a free port and its use another
// program
// may take it: then another is tried. leave closes the client's connections.
func (c *ControlPlane) serve(ctx context.Context) (_ rest.Interface, leave func(), err error) {
	const attempts = 5
	for attempt := 1; ; attempt++ {
		if c.port = c.options.Port; c.port == 0 {
			if c.port, err = process.FreePort(); err != nil {
				return nil, nil, err
			}
		}
		if err := c.kubeconfigs(); err != nil {
			return nil, nil, err
		}
		p, err := c.run(APIServer, c.apiServerFlags())
		if err != nil {
			return nil, nil, err
		}
		client, leave, err := c.ready(ctx)
		if err == nil {
			return client, leave, nil
		}
		select {
		case <-p.Done():
			if attempt < attempts && c.options.Port == 0 && strings.Contains(err.Error(), "address already in use") {
				c.group.Forget(p)
				continue
			}
		default:
		}
		return nil, nil, err
	}
}

// ready waits until the API server says that it is.
func (c *ControlPlane) ready(ctx context.Context) (_ rest.Interface, leave func(), err error) {
	config := c.Config()
	config.Timeout = 10 * time.Second
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, err
	}
	leave = func() { utilnet.CloseIdleConnectionsFor(web.Transport) }
	config.NegotiatedSerializer = apischeme.Codecs().WithoutConversion()
	client, err := rest.UnversionedRESTClientForConfigAndClient(config, web)
	if err != nil {
		return nil, nil, err
	}
	err = c.until(ctx, APIServer+" to be ready", c.group.Processes(), func(ctx context.Context) bool {
		_, err := client.Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil
	})
	if err != nil {
		leave()
		return nil, nil, err
	}
	return client, leave, nil
}

func (c *ControlPlane) run(component string, flags map[string]string) (*process.Process, error) {
	return c.group.Run(component, c.paths[component], arguments(flags, c.options.Flags[component]))
}
