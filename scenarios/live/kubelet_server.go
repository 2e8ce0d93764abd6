package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/nodesim/nodesim/scenarios/internal/metrics"
	"github.com/nodesim/nodesim/scenarios/internal/shell"
	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

// A kubeletServer is the server of all kubelets: one listener for the routes of all of them (kubectl logs, exec, attach,
// port-forward), and the API that kubectl top asks.
type kubeletServer struct {
	server *api.Server
	host   string                // by which the API server reaches it
	inside bool                  // host is the nodes' InternalIP as well
	top    *metrics.Registration // nil where the cluster has its own, or none is allowed
	// leave ends the wait until the API server reaches top, after which waited is closed. Both are nil where none waits.
	leave  context.CancelFunc
	waited chan struct{}
}

// reachedWithin bounds how long the API server may take until it reaches the metrics. One that doesn't, as one in a container, keeps all
// namespaces of the cluster from being deleted meanwhile (k8s.io/kubernetes, pkg/controller/namespace/deletion: the discovery of all groups
// comes first).
const reachedWithin = 2 * time.Minute

// keepReached takes the metrics back if the API server can't reach them.
func (f *kubeletServer) keepReached(ctx context.Context, r *run) {
	ctx, f.leave = context.WithCancel(ctx)
	f.waited = make(chan struct{})
	go func() {
		defer close(f.waited)
		within, enough := context.WithTimeout(ctx, reachedWithin)
		defer enough()
		err := f.top.Available(within, r.clock)
		if err == nil || ctx.Err() != nil {
			return
		}
		r.warn(fmt.Errorf("kubectl top won't work: %w: want --kubelet-address, an address by which the API server reaches this machine", err))
		if err := r.again(ctx, f.top.Close); err != nil {
			return // the end of the run tries again
		}
		f.top = nil
	}()
}

// openKubeletServer listens. What isn't possible is warned of and left out: a roll needs
// none of it. It ends with tail; nodes are those of the scenario.
func (r *run) openKubeletServer(ctx, tail context.Context, nodes corev1listers.NodeLister) *kubeletServer {
	if r.listen == "" {
		return &kubeletServer{}
	}
	ours := func(context.Context) ([]*corev1.Node, error) {
		all, err := nodes.List(labels.SelectorFromSet(labels.Set{Label: r.label}))
		if r.sharded() {
			all = slices.DeleteFunc(all, func(n *corev1.Node) bool { return r.apiServer.kubelets.find(n.Name) == nil })
		}
		return all, err
	}
	running := r.apiServer.kubelets.pods
	scripted := &shell.Scripted{Pods: running, Nodes: ours}
	server, at, err := r.serve(tail, scripted.Config())
	if err != nil {
		r.warn(fmt.Errorf("kubectl logs, exec, attach and port-forward won't work: %w", err))
		return &kubeletServer{}
	}
	f := &kubeletServer{server: server, host: cmp.Or(r.host, server.NodeAddress().Address), inside: r.host != ""}
	if r.sharded() {
		return f // the cluster has one server of metrics, and a process knows its own pods alone
	}
	source := metrics.Source{Summaries: scripted.Summaries, Nodes: ours, Pods: running.GetPods}
	bounded, enough := context.WithTimeout(ctx, attemptMost)
	defer enough()
	err = r.again(bounded, func(attempt context.Context) (err error) {
		living, end := context.WithCancel(tail)
		stop := context.AfterFunc(attempt, end) // where the server hangs
		f.top, err = metrics.Register(living, r.config, source, metrics.Options{Address: freePort(at), Host: r.host})
		if !stop() && err == nil {
			err = context.Cause(attempt)
		}
		if taken := (*metrics.TakenError)(nil); errors.As(err, &taken) { // the cluster has metrics of its own
			return nil
		}
		return err
	})
	switch {
	case err == nil && f.top != nil:
		f.keepReached(tail, r)
	case err == nil, ctx.Err() != nil:
	default:
		r.warn(fmt.Errorf("kubectl top won't work: %w", err))
	}
	return f
}

// KubeletClients lets in those alone to the kubelets' routes who show a certificate of
// one of these authorities, in PEM: for kube-apiserver that of its
// --kubelet-client-certificate. Without it, as with nil, everybody who reaches the
// port may talk to the pods, but isn't told what is in them: /pods isn't served.
func KubeletClients(authorities []byte) Option {
	return func(p *Runner) { p.trusted = authorities }
}

// serve listens for all kubelets, and says at which address it does.
func (p *Runner) serve(ctx context.Context, c api.PodHandlerConfig) (server *api.Server, at string, err error) {
	o := api.ServeOptions{Address: p.listen, ClientCA: p.trusted}
	if len(p.trusted) == 0 {
		c.GetPods, c.GetPodsFromKubernetes = nil, nil // whole specs, with the environment of containers
	}
	if p.host != "" {
		o.Names = []string{p.host}
	}
	server, err = api.Serve(ctx, c, o)
	if errors.Is(err, syscall.EADDRNOTAVAIL) && p.host != "" {
		o.Address = elsewhere // the address of this machine as others see it
		server, err = api.Serve(ctx, c, o)
	}
	return server, o.Address, err
}

// close ends it, and removes what makes kubectl top work, again and again if need be.
// A front that was never opened is nil.
func (f *kubeletServer) close(ctx context.Context, again func(context.Context, func(context.Context) error) error) error {
	if f == nil {
		return nil
	}
	var all []error
	if f.leave != nil {
		f.leave()
		<-f.waited
	}
	if f.top != nil {
		all = append(all, again(ctx, f.top.Close))
	}
	if f.server != nil {
		all = append(all, f.server.Close(ctx))
	}
	return errors.Join(all...)
}

// forgetTop removes the registration for kubectl top that a killed process has left, or one whose last request
// failed: an APIService without a server would keep namespaces from being removed. Who may not has not written it.
func (s *sweep) forgetTop(ctx context.Context) error {
	if err := metrics.Unregister(ctx, s.clients.dynamic, metrics.Options{}); !apierrors.IsForbidden(err) {
		return err
	}
	return nil
}
