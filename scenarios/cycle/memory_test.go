package cycle_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// memory is an environment of clusters in memory. Every call takes a second of its clock; waits take effect at once.
type memory struct {
	mu       sync.Mutex
	now      time.Time
	born     int
	clusters map[cycle.ClusterID]*cycle.Cluster
}

func newMemory(clusters ...cycle.Cluster) *memory {
	m := &memory{now: noon, clusters: map[cycle.ClusterID]*cycle.Cluster{}}
	for _, c := range clusters {
		c.Instances = slices.Clone(c.Instances)
		m.clusters[c.ID] = &c
	}
	return m
}

func (m *memory) LookupClusterID(_ context.Context, name string) (cycle.ClusterID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, c := range m.clusters {
		if c.Name == name {
			return id, nil
		}
	}
	return "", fmt.Errorf("look up cluster %q: no such cluster", name)
}

func (m *memory) DescribeCluster(_ context.Context, id cycle.ClusterID) (cycle.Cluster, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.clusters[id]
	if !ok {
		return cycle.Cluster{}, fmt.Errorf("describe cluster %q: no such cluster", id)
	}
	out := *c
	out.Instances = slices.Clone(c.Instances)
	return out, nil
}

func (m *memory) StartInstances(_ context.Context, id cycle.ClusterID, count int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(time.Second)
	c := m.clusters[id]
	for range count {
		m.born++
		c.Instances = append(c.Instances, cycle.Instance{
			ID: cycle.InstanceID(fmt.Sprintf("new-%04d", m.born)), State: cycle.Starting, Config: c.Config,
			CreatedAt: m.now, UpdatedAt: m.now,
		})
	}
	return nil
}

func (m *memory) DrainInstances(_ context.Context, ids ...cycle.InstanceID) error {
	return m.set(cycle.Draining, ids)
}

func (m *memory) TerminateInstances(_ context.Context, ids ...cycle.InstanceID) error {
	return m.set(cycle.Terminating, ids)
}

func (m *memory) set(state cycle.InstanceState, ids []cycle.InstanceID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(time.Second)
	for _, c := range m.clusters {
		for i := range c.Instances {
			if slices.Contains(ids, c.Instances[i].ID) {
				c.Instances[i].State, c.Instances[i].UpdatedAt = state, m.now
			}
		}
	}
	return nil
}

func (m *memory) WaitInstances(_ context.Context, state cycle.InstanceState, ids ...cycle.InstanceID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(time.Second)
	for _, c := range m.clusters {
		c.Instances = slices.DeleteFunc(c.Instances, func(i cycle.Instance) bool {
			return state == cycle.Terminated && i.State == cycle.Terminating && slices.Contains(ids, i.ID)
		})
		for n := range c.Instances {
			i := &c.Instances[n]
			if !slices.Contains(ids, i.ID) {
				continue
			}
			switch {
			case state == cycle.Started && i.State == cycle.Starting, state == cycle.Drained && i.State == cycle.Draining:
				i.State, i.UpdatedAt = state, m.now
			}
		}
	}
	return nil
}

// group is a cluster "web" of config-1 with instances i-00, i-01… as given, each a minute younger than the one before.
func group(instances ...cycle.Instance) cycle.Cluster {
	c := cycle.Cluster{ID: "c-1", Config: "config-1", Name: "web", MaxSize: 1000, Instances: instances}
	for n := range c.Instances {
		i := &c.Instances[n]
		if i.ID == "" {
			i.ID = cycle.InstanceID(fmt.Sprintf("i-%02d", n))
		}
		if i.CreatedAt.IsZero() {
			i.CreatedAt = noon.Add(time.Duration(n-60) * time.Minute)
		}
		if i.UpdatedAt.IsZero() {
			i.UpdatedAt = i.CreatedAt
		}
	}
	return c
}

func of(n int, state cycle.InstanceState, config cycle.ConfigID) []cycle.Instance {
	return slices.Repeat([]cycle.Instance{{State: state, Config: config}}, n)
}

func old(state cycle.InstanceState) cycle.Instance {
	return cycle.Instance{State: state, Config: "config-0"}
}

func current(state cycle.InstanceState) cycle.Instance {
	return cycle.Instance{State: state, Config: "config-1"}
}

// mustPlan plans what must be possible.
func mustPlan(t *testing.T, cluster cycle.Cluster, options cycle.Options) cycle.Decision {
	t.Helper()
	d, err := cycle.Plan(cluster, options)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
