package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nodesim/nodesim/internal/localcluster/assets"
	"github.com/nodesim/nodesim/internal/localcluster/process"
)

// startTimeout bounds the start of etcd and of kube-apiserver. It is generous because packages start theirs at the
// same time on few cores; no good run waits for it.
const startTimeout = 10 * time.Minute

// A Cluster is a running control plane on loopback. Its methods are safe for concurrent use unless they say otherwise.
type Cluster struct {
	options Options
	folder  string // logs, certificates, data and pid files; removed at the end
	env     *envtest.Environment
	config  *rest.Config
	client  kubernetes.Interface
	group   *process.Group // what the cluster started itself, its logs and its watchdog

	kubelets *kubelets // nil until StartControllers

	server sync.Mutex // held while the API server is stopped or started

	mu    sync.Mutex
	users int
}

// quiet gives controller-runtime a logger, once.
var quiet = sync.OnceFunc(func() { ctrllog.SetLogger(klog.Background()) })

// Start starts etcd and kube-apiserver and returns when both are healthy, after about four seconds. The caller must
// call Stop. Tests use New or Shared instead, which do.
func Start(o Options) (_ *Cluster, err error) {
	quiet() // envtest's client complains of a missing logger otherwise
	folder, err := os.MkdirTemp("", "nodesim-testcluster-")
	if err != nil {
		return nil, fmt.Errorf("start a test cluster: %w", err)
	}
	c := &Cluster{options: o, folder: folder}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("start a test cluster: %w\n%s", err, c.Logs(20)), c.Stop())
		}
	}()
	if c.group, err = process.NewGroup(folder); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	for _, sub := range []string{"certs", "etcd"} {
		if err := os.Mkdir(c.path(sub), 0o755); err != nil {
			return nil, err
		}
	}
	if err := c.configure(); err != nil {
		return nil, err
	}
	if c.config, err = c.env.Start(); err != nil {
		return nil, err
	}
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		return nil, err
	}
	return c, nil
}

// configure prepares envtest: our binaries, started by scripts that leave their pid, our folders, our logs.
func (c *Cluster) configure() error {
	no := false
	c.env = &envtest.Environment{
		UseExistingCluster:       &no,
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  5 * time.Minute,
	}
	etcd, server := &envtest.Etcd{}, c.env.ControlPlane.GetAPIServer()
	c.env.ControlPlane.Etcd = etcd
	for _, p := range []struct {
		name string
		path *string
	}{{"etcd", &etcd.Path}, {"kube-apiserver", &server.Path}} {
		binary, err := assets.Find(p.name)
		if err != nil {
			return err
		}
		if *p.path, err = c.group.Script(p.name, binary); err != nil {
			return err
		}
	}
	etcdLog, err := c.group.OpenLog("etcd")
	if err != nil {
		return err
	}
	serverLog, err := c.group.OpenLog("kube-apiserver")
	if err != nil {
		return err
	}
	free, err := process.FreePort() // it is given up while the API server starts again
	if err != nil {
		return err
	}
	server.SecureServing.Address, server.SecureServing.Port = "127.0.0.1", strconv.Itoa(free)
	etcd.DataDir, etcd.Out, etcd.Err = c.path("etcd"), etcdLog, etcdLog
	server.CertDir, server.Out, server.Err = c.path("certs"), serverLog, serverLog
	flags := server.Configure()
	flags.Set("etcd-compaction-interval", "0")
	// By default a stop waits a minute for open watches (k8s.io/apiserver, pkg/server/genericapiserver.go,
	// ShutdownTimeout). These two end them at once, cleanly, and bound the rest to two seconds.
	flags.Set("shutdown-send-retry-after", "true")
	flags.Set("shutdown-watch-termination-grace-period", "1s")
	if c.options.NoWatchCache {
		flags.Set("watch-cache", "false")
	}
	for name, value := range c.options.APIServer {
		flags.Set(name, value)
	}
	return nil
}

// Stop ends every process in the reverse order of their start, waits for them, and removes the folder. It may be
// called more than once, and on a cluster whose start failed.
func (c *Cluster) Stop() error {
	if c.group == nil {
		return nil
	}
	c.server.Lock()
	defer c.server.Unlock()
	c.kubelets.close()
	all := []error{c.group.Stop()}
	if c.env != nil {
		all = append(all, c.env.Stop())
		c.env = nil
	}
	all = append(all, c.group.Close())
	return errors.Join(all...)
}

// Config is a copy of the administrator's configuration: every right, no rate limit worth the name.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Client is the administrator's client.
func (c *Cluster) Client() kubernetes.Interface { return c.client }

// Folder is the cluster's own folder, where tests may put files of theirs; it goes away with the cluster.
func (c *Cluster) Folder() string { return c.folder }

func (c *Cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.folder}, elements...)...)
}

// Logs returns the last lines of every process's log, at most the given number of each, for people to read.
func (c *Cluster) Logs(lines int) string {
	if c.group == nil {
		return ""
	}
	return c.group.Logs(lines)
}

// untilReady waits until the API server says that it is ready.
func (c *Cluster) untilReady(ctx context.Context) error {
	return poll(ctx, 50*time.Millisecond, "kube-apiserver to be ready", func(ctx context.Context) (bool, error) {
		_, err := c.client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil, nil
	})
}
