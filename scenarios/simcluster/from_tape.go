package simcluster

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// Tape starts with what is there at a moment of a tape, [replay.End] for its end.
// From there the cluster goes on by itself: nodes have kubelets and machines at a
// provider, pods their controllers. Where the tape has no Deployments and the like,
// they are made up of their pods. Nothing continues the tape's roll:
// what it had begun, such as a cordon, stays as it is.
func Tape(src timeline.Source, at time.Duration) Start {
	return Start{moment: func() (scenarios.Moment, error) { return MomentOf(context.Background(), src, at) }}
}

// MomentOf is what is there at a moment of a tape, [replay.End] for its end.
func MomentOf(ctx context.Context, src timeline.Source, at time.Duration) (m scenarios.Moment, err error) {
	p, err := replay.NewPlayer(src)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := p.Seek(ctx, at); err != nil {
		return m, err
	}
	c := p.Cluster()
	m = scenarios.Moment{Header: p.Header(), At: min(at, p.Position()), Objects: map[timeline.Resource][][]byte{}}
	for _, r := range m.Header.Resources {
		list, err := c.ListUnfaulted(schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}, "", metav1.ListOptions{})
		if err != nil {
			return m, err
		}
		for _, o := range list.Items {
			m.Objects[r] = append(m.Objects[r], o.Raw())
		}
	}
	return m, nil
}
