package timeline

import (
	"fmt"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// APIVersion and Kind name the one format that this package reads and writes.
const (
	APIVersion = "nodesim.dev/v1"
	Kind       = "Timeline"
)

// SourceKind says where a tape comes from.
type SourceKind string

// The known kinds of source. Others survive a round trip.
const (
	SourceRecording SourceKind = "recording" // watched from an API server
	SourceImport    SourceKind = "import"    // converted from a raw watch dump
	SourceScenario  SourceKind = "scenario"  // simulated
)

// Times says where the tape's times come from.
type Times string

// The known kinds of time.
const (
	TimesObserved Times = "observed" // arrival at the recorder
	TimesDerived  Times = "derived"  // taken from time stamps inside the objects
)

// Header is the first document of a tape. Members that this version doesn't
// know are kept in Extra and written back.
type Header struct {
	APIVersion string     `yaml:"apiVersion"`
	Kind       string     `yaml:"kind"`
	Metadata   Metadata   `yaml:"metadata"`
	Source     Origin     `yaml:"source,omitempty"`
	Scope      Scope      `yaml:"scope,omitempty"`
	Resources  []Resource `yaml:"resources,omitempty"`
	// Redaction lists what was dropped from the objects, for people: paths such
	// as "**.env", where "**" means any resource and depth.
	Redaction []string `yaml:"redaction,omitempty"`
	// Faults hold what goes wrong at the watch boundary where the tape is
	// replayed: "drop:nodes,type=DELETED", as docs/faults.md has it.
	Faults []string `yaml:"faults,omitempty"`

	Extra map[string]yaml.Node `yaml:",inline"`
}

// Metadata names the tape and says when its clock was at zero.
type Metadata struct {
	Name string `yaml:"name"`
	// Start is the wall time of "0s".
	Start Time                 `yaml:"start,omitempty"`
	Extra map[string]yaml.Node `yaml:",inline"`
}

// Origin identifies the maker of the tape.
type Origin struct {
	Kind SourceKind `yaml:"kind,omitempty"`
	// Program is what wrote the tape and its version, such as "nodesim v0.1.0"; empty where that isn't known.
	Program string `yaml:"program,omitempty"`
	// Server is the API server's gitVersion, such as "v1.36.3".
	Server string `yaml:"server,omitempty"`
	// Cluster is the UID of the kube-system namespace, which represents the
	// identity of a cluster: two recordings with the same value are of one cluster.
	Cluster string               `yaml:"cluster,omitempty"`
	Times   Times                `yaml:"times,omitempty"`
	Extra   map[string]yaml.Node `yaml:",inline"`
}

// Scope says which part of the cluster the tape shows.
type Scope struct {
	Provider  string `yaml:"provider,omitempty"`
	Nodegroup string `yaml:"nodegroup,omitempty"`
	// Selector is a label selector of nodes, where one was given instead of a group.
	Selector string `yaml:"selector,omitempty"`
	// Pods, if not empty, is a label selector of pods: the tape shows a roll in
	// which they are the instances, updated in place. Namespace is where they
	// are; empty represents all namespaces, and it says nothing without Pods.
	Pods      string               `yaml:"pods,omitempty"`
	Namespace string               `yaml:"namespace,omitempty"`
	Extra     map[string]yaml.Node `yaml:",inline"`
}

// Partial reports whether the tape shows some of the cluster's nodes only.
func (s *Scope) Partial() bool { return s.Nodegroup != "" || s.Selector != "" }

// Resource is one API resource on the tape.
type Resource struct {
	Group      string `yaml:"group"`
	Version    string `yaml:"version"`
	Kind       string `yaml:"kind"`
	Resource   string `yaml:"resource"` // plural, such as "nodes"
	Namespaced bool   `yaml:"namespaced"`
}

// APIVersion returns "v1" or "policy/v1", as it is in an object.
func (r Resource) APIVersion() string {
	if r.Group == "" {
		return r.Version
	}
	return r.Group + "/" + r.Version
}

// String returns "nodes" or "poddisruptionbudgets.policy".
func (r Resource) String() string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

// MarshalYAML writes a resource on one line.
func (r Resource) MarshalYAML() (any, error) {
	type plain Resource
	var n yaml.Node
	if err := n.Encode(plain(r)); err != nil {
		return nil, err
	}
	n.Style = yaml.FlowStyle
	return &n, nil
}

// Key returns the word by which events of this tape name the resource r: the
// plural where it is unique among h.Resources, else "plural.group".
func (h *Header) Key(r Resource) string {
	for _, other := range h.Resources {
		if other.Resource == r.Resource && other.Group != r.Group {
			return r.String()
		}
	}
	return r.Resource
}

// Lookup finds the resource that an event names. Both the plural and
// "plural.group" are understood; a plural that two groups share is not.
func (h *Header) Lookup(key string) (Resource, bool) {
	var found Resource
	n := 0
	for _, r := range h.Resources {
		if r.Group != "" && r.called(key) {
			return r, true
		}
		if r.Resource == key {
			if r.Group == "" {
				return r, true
			}
			found, n = r, n+1
		}
	}
	return found, n == 1
}

// called reports whether a key is the resource's String, which it doesn't make.
func (r *Resource) called(key string) bool {
	name, group, _ := strings.Cut(key, ".")
	return name == r.Resource && group == r.Group
}

// Time is a wall time, written as RFC 3339 in quotes: yaml.v3 would read a
// bare one as a time of its own and lose digits.
type Time struct{ time.Time }

// IsZero reports whether no time is set; yaml's omitempty asks it.
func (t Time) IsZero() bool { return t.Time.IsZero() }

// MarshalYAML implements yaml.Marshaler.
func (t Time) MarshalYAML() (any, error) {
	return &yaml.Node{
		Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle,
		Value: t.UTC().Format(time.RFC3339Nano),
	}, nil
}

// UnmarshalYAML implements yaml.Unmarshaler. It takes the text as it stands,
// quoted or not.
func (t *Time) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.Parse(time.RFC3339Nano, n.Value)
	if err != nil {
		return fmt.Errorf("line %d: time %q: want RFC 3339, such as \"2026-11-20T22:21:09.113Z\"", n.Line, n.Value)
	}
	t.Time = v.UTC()
	return nil
}
