package live

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/internal/phrase"
)

// ForeignNodesError says that the cluster has nodes that no live run has made. A live run among them could do harm:
// real workloads may be scheduled to its nodes.
type ForeignNodesError struct {
	Server  string
	Count   int
	Example string
}

// Error implements error.
func (e *ForeignNodesError) Error() string {
	return fmt.Sprintf("cluster %s: found %s that no live run of this scenario has made, such as %s: want a cluster without, or to be told that this one is meant",
		e.Server, phrase.Count(e.Count, "node"), e.Example)
}

// foreign reports whether there are nodes that no live run has made, and refuses
// them unless the cluster is known.
func (p *Performer) foreign(ctx context.Context, client kubeclient.Interface) (found bool, err error) {
	var list *corev1.NodeList
	if err := p.again(ctx, func(ctx context.Context) (err error) {
		list, err = client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: Label + "!=" + p.label, Limit: 500})
		if err != nil {
			return fmt.Errorf("cluster %s: look whether it has nodes of its own: %w", p.config.Host, err)
		}
		return nil
	}); err != nil {
		return false, err
	}
	n := len(list.Items)
	if n > 0 && !p.known {
		if list.RemainingItemCount != nil {
			n += int(*list.RemainingItemCount)
		}
		return true, &ForeignNodesError{Server: p.config.Host, Count: n, Example: list.Items[0].Name}
	}
	return n > 0, nil
}
