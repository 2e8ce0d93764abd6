package analysis

import "time"

// Analysis is what a tape tells of its rolls.
//
// All times are positions on the tape: since its start, as in the feed. Slices are sorted: Rolls by their start, Nodes by the
// moment in which they appeared and then by name, Workloads and Budgets by namespace and name, Findings that made a
// roll longer come first, and of these and of the others the most expensive ones.
type Analysis struct {
	Tape      About      `json:"tape"`
	Rolls     []Roll     `json:"rolls"`
	Nodes     []Node     `json:"nodes"`
	Workloads []Workload `json:"workloads"`
	Budgets   []Budget   `json:"budgets"`
	Findings  []Finding  `json:"findings"`
	// Pods are there where Options.Series asked for them.
	Pods []Pod `json:"pods,omitempty"`
}

// About is what was read.
type About struct {
	Name     string        `json:"name"`
	Start    time.Time     `json:"start,omitzero"` // where the header has it
	Duration time.Duration `json:"duration"`
	Source   string        `json:"source"` // recording, import or scenario
	Provider string        `json:"provider,omitempty"`
	Events   int           `json:"events"` // lines after the header
	Complete bool          `json:"complete"`
	Gaps     []Note        `json:"gaps"`
	Marks    []Note        `json:"marks"`
}

// Note is a gap or a mark of the tape.
type Note struct {
	Moment
	Name string `json:"name"` // the mark's name, or the resource of the gap
	Text string `json:"text,omitempty"`
}

// Moment is a position on the tape with the line that shows it.
type Moment struct {
	At   time.Duration `json:"at"`
	Line int           `json:"line"`
}

// Outcome is how a roll ended on the tape.
type Outcome string

// The outcomes.
const (
	Complete   Outcome = "complete"
	Failed     Outcome = "failed"
	Unfinished Outcome = "unfinished" // the tape ends before the roll does
)

// Roll is the replacement of the nodes of one group.
type Roll struct {
	Group string `json:"group"`
	// Pods is the scope of a roll that updates pods in place, as noderoll.PodScope has it; such a roll has no group.
	Pods  string `json:"pods,omitempty"`
	Start Moment `json:"start"`
	// End of an unfinished one is the tape's last line, or its last transition where nothing was under way any more.
	End      Moment        `json:"end"`
	Duration time.Duration `json:"duration"`
	Outcome  Outcome       `json:"outcome"`  // complete, failed, or unfinished
	Replaced int           `json:"replaced"` // nodes of the beginning that are gone
	Joined   int           `json:"joined"`
	Left     int           `json:"left"` // nodes that are still to be replaced
	// Path is the critical path: what followed on what from the start to the end, without holes, in its order. Its durations
	// add up to Duration.
	Path []Step `json:"path"`
	// Savings tell for each wait on a tape by how much the roll would have been shorter had it taken no time, the largest
	// first; those that save nothing are left out.
	Savings []Saving `json:"savings"`
}

// Step is a part of a critical path.
type Step struct {
	From     Moment        `json:"from"`
	To       Moment        `json:"to"`
	Duration time.Duration `json:"duration"`
	Node     string        `json:"node,omitempty"`
	Phase    Phase         `json:"phase"`
	// Wait is what the node waited for during this part, if the tape shows it.
	Wait WaitKind `json:"wait,omitempty"`
	// Object is what was waited for: Kind/namespace/name or Kind/name.
	Object string `json:"object,omitempty"`
	Text   string `json:"text"` // one sentence
}

// Saving says how much shorter a roll would have been without one kind of wait for one object.
type Saving struct {
	Wait   WaitKind      `json:"wait"`
	Object string        `json:"object,omitempty"` // Kind/namespace/name
	Saves  time.Duration `json:"saves"`
	Text   string        `json:"text"`
}

// Phase is a part of a node's life, from one moment to the next.
type Phase string

// The phases, in their order. A node that was there when the tape began has none up to PhaseServing.
const (
	PhaseBooting     Phase = "booting"     // from the request for a machine, where a NodeClaim or Machine shows it, to the Node object
	PhaseJoining     Phase = "joining"     // from the Node object to Ready
	PhaseServing     Phase = "serving"     // Ready and schedulable
	PhaseNotReady    Phase = "notready"    // was Ready before
	PhaseCordoned    Phase = "cordoned"    // takes no new pods, and nobody drains it yet
	PhaseDraining    Phase = "draining"    // from the first evidence of a drain to the last evictable pod's end
	PhaseTerminating Phase = "terminating" // from there to the end of the Node object
	PhaseBetween     Phase = "between"     // of a critical path: no node was worked on
)

// Role is what a roll does with a node.
type Role string

// The roles.
const (
	RoleOld  Role = "old"  // of the beginning, to be replaced
	RoleNew  Role = "new"  // joined during the tape
	RoleKept Role = "kept" // of the beginning, and stays
)

// Node is the life of one node, by its UID.
type Node struct {
	Name         string `json:"name"`
	UID          string `json:"uid"`
	Group        string `json:"group,omitempty"`
	Image        string `json:"image,omitempty"`
	Zone         string `json:"zone,omitempty"`
	InstanceType string `json:"instanceType,omitempty"`
	Role         Role   `json:"role"` // old, new, or kept
	// Claim is the NodeClaim or Machine that the node was made for: Kind/name or Kind/namespace/name.
	Claim string `json:"claim,omitempty"`

	Requested  *Moment `json:"requested,omitempty"` // its NodeClaim or Machine was made
	Joined     *Moment `json:"joined,omitempty"`    // the Node object appeared
	Ready      *Moment `json:"ready,omitempty"`     // for the first time
	Cordoned   *Moment `json:"cordoned,omitempty"`  // the last time before it was drained
	DrainBegan *Moment `json:"drainBegan,omitempty"`
	Drained    *Moment `json:"drained,omitempty"` // its last evictable pod was gone
	Terminated *Moment `json:"terminated,omitempty"`

	// Durations between these moments, absent where one of the two is. Drain goes on to the tape's end where the drain does:
	// then DrainUnfinished is set.
	Boot            *time.Duration `json:"boot,omitempty"`        // Requested to Joined
	Join            *time.Duration `json:"join,omitempty"`        // Joined to Ready
	Cordon          *time.Duration `json:"cordon,omitempty"`      // Cordoned to DrainBegan
	Drain           *time.Duration `json:"drain,omitempty"`       // DrainBegan to Drained
	Termination     *time.Duration `json:"termination,omitempty"` // Drained to Terminated
	DrainUnfinished bool           `json:"drainUnfinished,omitempty"`

	// PodsToEvict is the most evictable pods that the drain had before it.
	PodsToEvict int `json:"podsToEvict,omitempty"`
	// Waits are what its phases waited for, by their beginning. They may overlap: two pods wait at once.
	Waits []Wait `json:"waits"`
	// Spans are its phases without holes, where Options.Series asked for them.
	Spans []Span `json:"spans,omitempty"`
}

// Span is a phase with its beginning and end.
type Span struct {
	Phase Phase  `json:"phase"`
	From  Moment `json:"from"`
	To    Moment `json:"to"`
}

// WaitKind is what is waited for.
type WaitKind string

// The kinds of waits.
const (
	WaitBudget       WaitKind = "budget"        // a PodDisruptionBudget allowed no disruption
	WaitGrace        WaitKind = "grace"         // a pod was deleted and took its time to end
	WaitFinalizer    WaitKind = "finalizer"     // an object was deleted and a finalizer kept it
	WaitVolume       WaitKind = "volume"        // a volume was to be attached or detached
	WaitImagePull    WaitKind = "image-pull"    // an image was pulled
	WaitScheduling   WaitKind = "scheduling"    // the scheduler found no node
	WaitPodStart     WaitKind = "pod-start"     // a pod started and wasn't ready
	WaitNodeReady    WaitKind = "node-ready"    // a node had joined and wasn't Ready
	WaitMachine      WaitKind = "machine"       // a machine was asked for and its node wasn't there
	WaitController   WaitKind = "controller"    // nothing that the tape shows was in the way: the controller of the roll took its time
	WaitNodeShutdown WaitKind = "node-shutdown" // all pods were gone and the Node object was still there
)

// Wait is one thing that a phase of a node waited for.
type Wait struct {
	Kind     WaitKind      `json:"kind"`
	Phase    Phase         `json:"phase"`
	From     Moment        `json:"from"`
	To       Moment        `json:"to"` // where it hadn't ended: the tape's last line, and Unfinished
	Duration time.Duration `json:"duration"`
	// Object is what was waited for: Kind/namespace/name or Kind/name. Of a budget the budget.
	Object string `json:"object,omitempty"`
	// Pods are the pods that waited, as namespace/name, at most 20; MorePods counts further ones.
	Pods       []string `json:"pods,omitempty"`
	MorePods   int      `json:"morePods,omitempty"`
	Reason     string   `json:"reason,omitempty"`  // a word of the cluster: Unschedulable, ErrImagePull
	Message    string   `json:"message,omitempty"` // a sentence of the cluster: the scheduler's, the budget's
	Unfinished bool     `json:"unfinished,omitempty"`
}

// Workload is the pods of one owner: a Deployment's as one, whatever ReplicaSets they have.
type Workload struct {
	Kind      string `json:"kind"` // Deployment, StatefulSet, …; Pod for one without an owner
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Replicas is the most pods that were available at once.
	//
	// How many its owner wanted is known where the tape has the Deployment, ReplicaSet or StatefulSet. Then a time in which none was
	// wanted is no time of missing ones, and BelowReplicas counts against what was wanted at the time. A tape without
	// them can't tell a workload that was scaled from one that lacked pods: one that grew seems to have been short before.
	Replicas       int     `json:"replicas"`
	LeastAvailable int     `json:"leastAvailable"`
	LeastAt        *Moment `json:"leastAt,omitempty"` // where LeastAvailable began, the first time
	// Wanted is the least that its budgets want available: 0 where it has none.
	Wanted int `json:"wanted,omitempty"`
	// BelowWanted is how long fewer than Wanted were available, BelowReplicas fewer than Replicas, or than its owner wanted.
	BelowWanted   time.Duration `json:"belowWanted"`
	BelowReplicas time.Duration `json:"belowReplicas"`
	Evicted       int           `json:"evicted"` // evictions granted
	// Refused is how long budgets refused to let pods of a draining node go, added up over pods. Refusals are exact where the
	// tape was made of an audit log.
	Refused     time.Duration `json:"refused"`
	Refusals    int           `json:"refusals,omitempty"`
	Deleted     int           `json:"deleted"` // pods deleted otherwise
	Lost        int           `json:"lost"`    // pods that went away with their node
	Restarts    int           `json:"restarts"`
	Updates     int           `json:"updates,omitempty"` // containers replaced since their image, or resources, were changed: no Restarts
	Pending     time.Duration `json:"pending"`           // pods waited for a node, added up
	LongestWait time.Duration `json:"longestWait"`
	// PendingPod is the pod of LongestWait, and PendingWhy the scheduler's message on it.
	PendingPod string `json:"pendingPod,omitempty"`
	PendingWhy string `json:"pendingWhy,omitempty"`
	// Available is how many were available from when on, where Options.Series asked for it.
	Available []Level `json:"available,omitempty"`
}

// Budget is a PodDisruptionBudget over the tape.
type Budget struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// AtZero is how long it allowed no disruption while it covered pods.
	AtZero time.Duration `json:"atZero"`
	// Held is how long it held up drains: the time in which at least one node waited for it. HeldNodes are those nodes, Pods
	// the pods that waited, as namespace/name, by the first moment, at most 20; MorePods counts further ones.
	Held      time.Duration `json:"held"`
	HeldNodes []string      `json:"heldNodes"`
	Pods      []string      `json:"pods"`
	MorePods  int           `json:"morePods,omitempty"`
	Refusals  int           `json:"refusals,omitempty"` // requests refused, where an audit log tells
	// Allowed and the figures it comes from, from when on, where Options.Series asked for them.
	Allowed []Level `json:"allowed,omitempty"`
	Healthy []Level `json:"healthy,omitempty"`
	Desired []Level `json:"desired,omitempty"`
}

// Level is a figure from a moment on, up to the next one's.
type Level struct {
	Moment
	Value int `json:"value"`
}

// Pod is the life of a pod, by its UID.
type Pod struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	UID       string  `json:"uid"`
	Workload  string  `json:"workload"` // Kind/namespace/name
	Node      string  `json:"node,omitempty"`
	Created   *Moment `json:"created,omitempty"`
	Scheduled *Moment `json:"scheduled,omitempty"`
	Ready     *Moment `json:"ready,omitempty"`   // for the first time
	Deleted   *Moment `json:"deleted,omitempty"` // its deletion was asked for
	Evicted   bool    `json:"evicted,omitempty"`
	Gone      *Moment `json:"gone,omitempty"`
}

// FindingKind names what was found, for programs.
type FindingKind string

// The kinds of findings.
const (
	FindBudgetHeld     FindingKind = "budget-held"     // a budget held up drains
	FindSlowGrace      FindingKind = "slow-grace"      // pods took long to end
	FindFinalizer      FindingKind = "finalizer"       // a finalizer kept an object
	FindVolume         FindingKind = "volume"          // a volume was waited for
	FindImagePull      FindingKind = "image-pull"      // images were waited for, or couldn't be pulled
	FindUnschedulable  FindingKind = "unschedulable"   // pods found no node
	FindSlowJoin       FindingKind = "slow-join"       // a node took far longer than others to get Ready
	FindSlowNode       FindingKind = "slow-node"       // a node took far longer than others in another phase
	FindBelowBudget    FindingKind = "below-budget"    // fewer pods were available than a budget wants
	FindUnavailable    FindingKind = "unavailable"     // none was available
	FindNodeNotReady   FindingKind = "node-notready"   // a node that was Ready wasn't
	FindNodeVanished   FindingKind = "node-vanished"   // a node went away with pods on it
	FindNeverJoined    FindingKind = "never-joined"    // a machine was asked for and no node came
	FindRestarts       FindingKind = "restarts"        // containers restarted again and again
	FindUnfinished     FindingKind = "unfinished"      // the tape ends in the middle of a roll
	FindGap            FindingKind = "gap"             // changes may be missing
	FindControllerIdle FindingKind = "controller-idle" // nothing was in the way and nothing happened
)

// Finding is one thing worth knowing, with its proof.
type Finding struct {
	Kind FindingKind `json:"kind"`
	// Cost is the time by which it made a roll longer, or for which it lasted where it made none longer.
	Cost time.Duration `json:"cost"`
	// Delays says that Cost made a roll longer.
	Delays bool `json:"delays"`
	// Object is what it is about: Kind/namespace/name or Kind/name.
	Object string   `json:"object,omitempty"`
	Node   string   `json:"node,omitempty"`
	Pods   []string `json:"pods,omitempty"` // namespace/name, at most 20
	From   Moment   `json:"from"`
	To     Moment   `json:"to"`
	Text   string   `json:"text"`             // one sentence: what held what for how long
	Remedy string   `json:"remedy,omitempty"` // one sentence: what to change
	// Lines prove it: lines of the tape, sorted, at most 20.
	Lines []int `json:"lines"`
}
