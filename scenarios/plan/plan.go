package plan

import (
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Plan is what a roll will do, as far as its runs tell.
type Plan struct {
	Scenario string   `json:"scenario"`
	Groups   []string `json:"groups"`
	Nodes    int      `json:"nodes"` // of these groups, before the roll
	Pods     int      `json:"pods"`  // of the workloads
	// Roll has the settings of the roll, defaults too, and WhatIf the changes before it, both as they are given.
	Roll   []Setting `json:"roll"`
	To     []Target  `json:"to"`
	WhatIf []string  `json:"whatIf"`

	Runs      int      `json:"runs"`
	Seed      uint64   `json:"seed"` // of the first run
	TimeLimit Duration `json:"timeLimit"`

	// Ends counts the runs in which the roll ends by itself, and Duration tells of these. Endless says why the others don't.
	Ends     int      `json:"ends"`
	Duration *Spread  `json:"duration,omitempty"`
	Endless  []Ending `json:"endless"`
	// Within is where the duration of one more run lies with a chance of nine in ten, absent where none ends.
	Within *Within `json:"within,omitempty"`
	// Live is what the roll did once on a real control plane, where it was asked.
	Live *Live `json:"live,omitempty"`

	Blocks    []Block          `json:"blocks"`
	WontRun   []WontRun        `json:"wontRun"`
	Workloads []Workload       `json:"workloads"`
	Capacity  Capacity         `json:"capacity"`
	Order     []Node           `json:"order"`
	Policies  []PolicyBreak    `json:"policies"`
	Timings   Timings          `json:"timings"`
	LeftOut   []string         `json:"leftOut"` // of the cluster that was read
	Samples   map[Which]Sample `json:"samples"`

	took    []time.Duration   // of the runs that end, in the order of their seeds
	blocked int               // runs in which something holds up a drain
	bare    int               // pods without a controller
	unready map[string]counts // pods of WontRun by workload, in each of the runs that have some
}

// Holds reports whether every run ends by itself, and violates no policy: warnings don't count.
func (p *Plan) Holds() bool { return p.Ends == p.Runs && p.broken() == nil }

// Setting is a setting of the roll.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Target is what the nodes of a group become.
type Target struct {
	Group        string `json:"group"`
	Version      string `json:"version"`
	Image        string `json:"image,omitempty"`
	InstanceType string `json:"instanceType"`
}

// Duration is written as decimal seconds: "92.412s".
type Duration time.Duration

// MarshalText is for encoding/json.
func (d Duration) MarshalText() ([]byte, error) {
	return noderoll.AppendSeconds(nil, time.Duration(d)), nil
}

// Within is a range of durations.
type Within struct {
	P5  Duration `json:"p5"`
	P95 Duration `json:"p95"`
}

// Spread is a duration over some runs.
type Spread struct {
	P50     Duration `json:"p50"`
	P90     Duration `json:"p90"`
	P99     Duration `json:"p99"`
	Longest Duration `json:"longest"`
}

// Ending is why a roll doesn't end by itself, and in how many runs.
type Ending struct {
	Runs int    `json:"runs"`
	Why  string `json:"why"`
}

// Block is what holds up the roll.
type Block struct {
	// Kind is that of the finding of an analysis, disruption-blocked where Karpenter says that it may not disrupt a node, or upgrade-refused where
	// AKS refuses the upgrade.
	Kind string `json:"kind"`
	// Object is Kind/namespace/name: a budget, a workload, or what a finalizer keeps.
	Object string `json:"object"`
	Runs   int    `json:"runs"`  // in which it held up the roll: a budget for ten seconds or longer, all else for a minute
	Stops  int    `json:"stops"` // of these, how many it kept from ending
	Held   Spread `json:"held"`
	Nodes  int    `json:"nodes"` // at most, in one run
	// Text says what happened in the run in which it held up the roll longest, and Pods are those that waited there, at most 20.
	Text     string   `json:"text"`
	Pods     []string `json:"pods"`
	MorePods int      `json:"morePods,omitempty"`
	Remedy   string   `json:"remedy,omitempty"`

	onNodes counts         // in each of Runs
	onNode  map[string]int // in how many of Runs it held up the node of that name
}

// WontRun are pods of a workload that don't run once the roll has ended, or has come to nothing.
type WontRun struct {
	Workload string `json:"workload"`
	Runs     int    `json:"runs"`
	Pods     int    `json:"pods"` // at most, in one run
	Pod      string `json:"pod"`  // one of them
	// Reason and Message are the cluster's words, those of the message that is said in most runs.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Before  bool   `json:"before,omitempty"` // they didn't run before the roll either
}

// Workload is how many pods of a workload are available.
type Workload struct {
	Workload string `json:"workload"`
	Replicas int    `json:"replicas"`
	// Wanted is the least that its budgets want available: 0 where it has none.
	Wanted int `json:"wanted"`
	Least  int `json:"least"` // in any run
	Usual  int `json:"usual"` // the least of the middle run
	// Below is how long fewer than Replicas are available, and BelowWanted counts the runs in which fewer than Wanted are.
	Below       Spread `json:"below"`
	BelowWanted int    `json:"belowWanted"`
}

// Capacity is what nodes the roll needs, those of other groups counted as well.
type Capacity struct {
	// Peak is the number of nodes above that before the roll: the middle run's, and that of the run with most.
	Peak     int `json:"peak"`
	MostPeak int `json:"mostPeak"`
	// NodeHours are those of all nodes during the roll, and ExtraHours those above the number before the roll; of the middle run.
	// A node counts from its Node object's creation to its end.
	NodeHours  Duration `json:"nodeHours"`
	ExtraHours Duration `json:"extraHours"`
}

// Node is how a node is replaced: the medians of the runs in which it is. Where nodes have other names in each run, it is the node
// that is replaced as the first, the second and so on, and has no name.
type Node struct {
	Name  string   `json:"name,omitempty"`
	Group string   `json:"group"`
	Runs  int      `json:"runs"` // in which its replacement begins
	Done  int      `json:"done"` // in which it ends
	From  Duration `json:"from"` // since the roll's start: its drain, or its cordon where nothing drains it
	// Takes is from there to the end of the node, and Drain to the end of its last pod; absent where no run comes to that.
	Takes *Duration `json:"takes,omitempty"`
	Drain *Duration `json:"drain,omitempty"`
}

// PolicyBreak is a rule of a policy that runs violate.
type PolicyBreak struct {
	Policy string `json:"policy"`
	Rule   string `json:"rule"`
	// Severity is error, or warning for a rule whose violation is told of and doesn't fail the plan.
	Severity policy.Severity `json:"severity"`
	Runs     int             `json:"runs"`
	Text     string          `json:"text"` // of the first of them
}

// broken is the first rule whose violation fails the plan, or nil.
func (p *Plan) broken() *PolicyBreak {
	for i := range p.Policies {
		if p.Policies[i].Severity == policy.SeverityError {
			return &p.Policies[i]
		}
	}
	return nil
}

// Timings say which durations of the simulation are known.
type Timings struct {
	Measured  []Measured `json:"measured"`  // on tapes of the cluster; see scenarios/calibrate
	Stated    []string   `json:"stated"`    // the scenario file states them
	Estimates []string   `json:"estimates"` // neither measured nor published
	Published int        `json:"published"` // from documentation, source or published measurements
}

// Measured is a timing that was measured.
type Measured struct {
	Name    string `json:"name"`
	Samples int    `json:"samples"` // 0 where the file of timings doesn't say
}

// Which is a run that stands for the others.
type Which string

// The runs that stand for the others, by duration: those that don't end count as the longest.
const (
	Median Which = "median"
	Worst  Which = "worst"
)

// Sample is one run.
type Sample struct {
	Seed     uint64   `json:"seed"`
	Duration Duration `json:"duration"`
	Ends     bool     `json:"ends"`
}

// settings are a roll's, for people.
func settings(r *spec.Roll) []Setting {
	all := []Setting{}
	for _, s := range r.RollSettings() {
		all = append(all, Setting{s.Name, s.Value})
	}
	return all
}
