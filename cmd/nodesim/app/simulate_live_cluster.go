package app

import (
	"context"
	"fmt"
	"sync"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/internal/localcluster"
	"github.com/nodesim/nodesim/scenarios/live"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
)

// A liveCluster is the cluster of a live run.
type liveCluster struct {
	rest *rest.Config
	// speed is that of the control plane's own delays; 1 of one that isn't ours.
	speed float64
	// export is the line for a shell that leads clients there, "" for a cluster
	// that the caller knows already.
	export string
	close  func() error
	// authority, in PEM, has signed what its API server shows to kubelets; nil of a
	// cluster of which that isn't known.
	authority []byte
	// done is closed when the cluster has ended by itself, and err says then why;
	// both are nil for one that isn't ours.
	done <-chan struct{}
	err  func() error
}

// during returns a context that ends when the cluster does; end waits for who
// watches that.
func (c liveCluster) during(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-c.done:
			cancel(c.err())
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel(nil)
		watching.Wait()
	}
}

// config finds the cluster, or starts one.
func (f *liveFlags) config(cmd *cobra.Command, opts *[]live.Option) (liveCluster, string, error) {
	if f.with {
		c, err := f.ownCluster(cmd)
		return c, "", err
	}
	to, err := destinationOf(f.cluster)
	if err != nil {
		return liveCluster{}, "", err
	}
	switch {
	case f.known == to.name && to.name != "":
		*opts = append(*opts, live.KnownCluster())
	case f.known != "":
		return liveCluster{}, "", usagef("flag --i-know-this-cluster %q: the kubeconfig's context in use is %q", f.known, to.name)
	}
	c := liveCluster{rest: to.rest, close: func() error { return nil }, speed: 1}
	if speed, known := localcluster.SpeedOf(to.cluster); known {
		c.speed, c.authority = speed, to.rest.CAData
	}
	return c, to.name, nil
}

// ownCluster starts a control plane whose own delays go at the same speed.
func (f *liveFlags) ownCluster(cmd *cobra.Command) (liveCluster, error) {
	errOut := cmd.ErrOrStderr()
	pace := f.pace()
	fmt.Fprintln(errOut, "nodesim: starting a control plane")
	plane, err := localcluster.Start(cmd.Context(), localcluster.Options{Name: "live", Speed: pace, Log: errOut})
	if err != nil {
		return liveCluster{}, err
	}
	export := "export KUBECONFIG=" + record.Quote(plane.KubeconfigPath())
	fmt.Fprintf(errOut, "nodesim: for kubectl, in a second terminal:\n%s\n", export)
	return liveCluster{export: export, speed: pace, rest: plane.Config(), authority: plane.Config().CAData, close: plane.Stop, done: plane.Done(), err: plane.Err}, nil
}
