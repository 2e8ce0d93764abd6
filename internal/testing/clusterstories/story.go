package clusterstories

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// A Story says what happens to one node group.
type Story struct {
	Name      string
	Group     testcluster.Group // with its name, by which the recording finds its nodes
	Nodes     int               // of the group before: generation 1, in the order of their names
	Image     string            // of those nodes; ami-0a1b
	Workloads []testcluster.Workload

	// Act holds what happens; [Roll] and [Vanish] make one.
	Act func(ctx context.Context, client kubernetes.Interface) error
	// After is the time the recording continues when Act has returned.
	After time.Duration
}

// Roll is a story's Act: the roll. That it stops at its time limit is no error, but a part of the story.
func Roll(r testcluster.Roll) func(context.Context, kubernetes.Interface) error {
	return func(ctx context.Context, client kubernetes.Interface) error {
		_, err := r.Run(ctx, client)
		if errors.Is(err, testcluster.ErrEvictionTimeout) {
			return nil
		}
		return err
	}
}

// Vanish is a story's Act: the node falls silent and is deleted, its pods are collected, and the workload comes to rest
// again elsewhere.
func Vanish(node string, w testcluster.Workload) func(context.Context, kubernetes.Interface) error {
	return func(ctx context.Context, client kubernetes.Interface) error {
		if err := testcluster.Vanish(ctx, client, node); err != nil {
			return err
		}
		if err := testcluster.UntilNoPods(ctx, client, node); err != nil {
			return err
		}
		return w.AtRest(ctx, client)
	}
}

// Record builds what the story begins with, waits until it is at rest, and then records what happens to a new file.
// The controllers of the cluster are started where they don't run yet. Where Act fails, what was recorded up to then
// is readable.
func (s Story) Record(ctx context.Context, c *testcluster.Cluster, file string) error {
	if err := s.prepare(ctx, c); err != nil {
		return fmt.Errorf("stage %s: %w", s.Name, err)
	}
	started := make(chan struct{})
	lists := 0
	rec, err := recorder.New(recorder.Config{
		REST: c.Config(),
		Name: s.Name,
		Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.Create(file, h) },
		Scope: recorder.Scope{
			Nodegroup: s.Group.Name,
			Providers: []recorder.Provider{{Name: "eks", Labels: []string{testcluster.LabelNodegroup}}},
		},
		Stop: func(ev timeline.Event) bool {
			if ev.Type == timeline.Sync {
				if lists++; lists == len(recorder.DefaultResources()) {
					close(started)
				}
			}
			return false
		},
	})
	if err != nil {
		return fmt.Errorf("stage %s: %w", s.Name, err)
	}
	err = recordWhile(ctx, rec, started, func() error {
		if err := s.Act(ctx, c.Client()); err != nil {
			return err
		}
		return retry.Pause(ctx, clock.RealClock{}, s.After)
	})
	if err := errors.Join(err, c.ControllersAlive()); err != nil {
		return fmt.Errorf("stage %s: %w", s.Name, err)
	}
	return nil
}

func (s Story) prepare(ctx context.Context, c *testcluster.Cluster) error {
	if s.Group.Name == "" {
		return errors.New("found a group without a name, want one to record by")
	}
	if err := c.StartControllers(); err != nil {
		return err
	}
	image := s.Image
	if image == "" {
		image = "ami-0a1b"
	}
	if err := s.Group.JoinAll(ctx, c.Client(), 1, s.Nodes, image); err != nil {
		return err
	}
	// Otherwise its Event comes before the recording or within it.
	for number := range s.Nodes {
		if err := testcluster.UntilRegistered(ctx, c.Client(), s.Group.Node(1, number, image).Name); err != nil {
			return err
		}
	}
	for _, w := range s.Workloads {
		if err := w.Create(ctx, c.Client(), s.Group); err != nil {
			return err
		}
	}
	return nil
}
