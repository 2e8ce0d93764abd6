package cycle

// Reason says why something is done, or why it is not. Reasons are words for machines; they never change.
type Reason string

// Why a Step does what it does.
const (
	ReasonOutdated     Reason = "outdated"      // its config is not the cluster's
	ReasonSurplus      Reason = "surplus"       // more instances than the target
	ReasonScaleUp      Reason = "scale-up"      // fewer instances than the target, none of them outdated
	ReasonNeverServed  Reason = "never-served"  // outdated or surplus before it was up: no drain needed
	ReasonDrained      Reason = "drained"       // has no work left
	ReasonDrainTimeout Reason = "drain-timeout" // has drained for longer than DrainTimeout
	ReasonStartTimeout Reason = "start-timeout" // not up StartTimeout after its creation
	ReasonReadyTimeout Reason = "ready-timeout" // up, but not ready for StartTimeout
	ReasonUnhealthy    Reason = "unhealthy"     // reported as Unhealthy
	ReasonStarting     Reason = "starting"      // awaited
	ReasonDraining     Reason = "draining"      // awaited
	ReasonTerminating  Reason = "terminating"   // awaited
)

// Why more is not done. Those of instances name the instance, the others count.
const (
	ReasonNotReady      Reason = "not-ready"      // up, but Ready says no; its capacity is not counted
	ReasonRefused       Reason = "refused"        // MayDrain says no
	ReasonUnknownState  Reason = "unknown-state"  // in a state that this package doesn't know
	ReasonClockSkew     Reason = "clock-skew"     // stamped later than Now; its timeout counts from the stamp
	ReasonKept          Reason = "kept"           // to be removed, but nothing is begun while the roll is held
	ReasonFloor         Reason = "floor"          // a drain would leave fewer serving than the floor
	ReasonCeiling       Reason = "ceiling"        // a start would list more than the ceiling
	ReasonMaxDraining   Reason = "max-draining"   // as many drain as may at once
	ReasonFailureBudget Reason = "failure-budget" // more failures than the budget allows
	ReasonPause         Reason = "pause"          // Mode is Pause
	ReasonAbort         Reason = "abort"          // Mode is Abort
)
