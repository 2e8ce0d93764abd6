package cloud

import "time"

// State is an instance's state as the provider reports it.
type State int

// The states, in the order in which an instance passes them.
const (
	Pending      State = iota // launched, not running yet
	Running                   // its machine runs
	ShuttingDown              // to be terminated; the machine is told first
	Terminated                // gone for good
)

func (s State) String() string {
	return [...]string{"pending", "running", "shutting-down", "terminated"}[s]
}

// An Instance is a machine of the provider. Its fields change only through the
// [Cloud].
type Instance struct {
	ID       string // such as i-0f1e2d3c4b5a69788
	Name     string // of the node that its kubelet registers
	Number   int    // counts the cloud's instances from 0
	Zone     string
	Group    *Group
	Template Template
	IP       string
	State    State

	Launched time.Duration // when it was asked for
	// Notice is when a spot interruption takes the instance, and Noticed when
	// that was told; 0 where there is none. Rebalance is when a rebalance
	// recommendation was given.
	Notice, Noticed, Rebalance time.Duration
	// Hidden says that the provider still calls the instance running although
	// its machine is dead or cut off.
	Hidden bool
	// Boot counts the starts of the machine, from 1. A reimage is a start with
	// a new Template.
	Boot int

	Ailments Ailments

	ends time.Duration // what a termination takes without grace
}

// Ailments are the faults of a machine.
type Ailments struct {
	Dead         bool // no program runs: the kubelet is silent
	CutOff       bool // the kubelet runs, and reaches no API server
	KubeletDown  bool // the kubelet is silent, containers run on
	RuntimeDown  bool // the container runtime doesn't answer
	CNIBroken    bool // the network plugin never initialises
	UserDataFail bool // the kubelet never starts
	NeverPosts   bool // the kubelet registers and then falls silent
}

// Silent reports whether the API server hears nothing of the machine's kubelet.
func (a Ailments) Silent() bool { return a.Dead || a.CutOff || a.KubeletDown }

// Alive reports whether the provider says that the instance is there.
func (i *Instance) Alive() bool {
	return i.Hidden || i.State == Pending || i.State == Running
}

// Change says what became of an instance.
type Change int

// The changes that watchers are told of.
const (
	Launched    Change = iota // it is pending
	Started                   // its machine runs: boots, reboots and reimages
	Told                      // a notice or recommendation was given
	ShutdownAsk               // its machine is asked to shut down
	Ended                     // stopped or terminated
	Ailing                    // its Ailments have changed
)
