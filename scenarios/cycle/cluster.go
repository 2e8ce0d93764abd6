package cycle

import "time"

// ClusterID names a cluster to its Environment.
type ClusterID string

// ConfigID names what instances are made from: an image, a launch template's version.
type ConfigID string

// InstanceID names an instance. It is never empty and never given twice.
type InstanceID string

// InstanceState is an instance's state between its start and its end.
//
// A state that is none of these constants is kept in the assessment (it takes room and is listed as a Blocker), but nothing
// is done to the instance.
type InstanceState string

// The states of a roll.
const (
	Starting    InstanceState = "starting"    // ordered, not up yet
	Started     InstanceState = "started"     // up; it serves if Options.Ready says so
	Draining    InstanceState = "draining"    // gives up its work
	Drained     InstanceState = "drained"     // has no work left
	Terminating InstanceState = "terminating" // on its way out
	Terminated  InstanceState = "terminated"  // awaited only; a listed instance in it is passed over
	// Unhealthy is an instance that came up, or tried to, and failed for good: it doesn't serve and is replaced without
	// a drain, since nothing in it would answer.
	Unhealthy InstanceState = "unhealthy"
)

// Instance is one machine of a cluster.
type Instance struct {
	ID     InstanceID
	State  InstanceState
	Config ConfigID
	// CreatedAt orders instances by age, and a start timeout counts from it.
	CreatedAt time.Time
	// UpdatedAt is when the instance came into its State, or when its readiness last changed. Zero means unknown: a drain
	// then never times out.
	UpdatedAt time.Time
}

// Cluster is one description of a group of instances. The order of Instances has no meaning.
type Cluster struct {
	ID ClusterID
	// Config is the config of instances that are started now. An instance of any other is outdated.
	Config ConfigID
	Name   string
	// MinSize and MaxSize are the group's own bounds. The planner doesn't read them: its bounds come with each call.
	MinSize   int
	MaxSize   int
	Instances []Instance
}
