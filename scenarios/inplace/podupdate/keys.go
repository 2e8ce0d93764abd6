package podupdate

import "cmp"

// Keys are the labels and annotations in which an update's progress lives. The zero Keys are the defaults; a field that
// is empty is that of the Prefix. The methods of Keys are the whole state machine, on pods that are handed in: they
// change none of them, read no clock and write to nobody.
type Keys struct {
	// Prefix stands before every key, without the slash: "agentbox.navix.sh".
	Prefix string
	// State is the annotation of the update: Prefix/inplace-update-state.
	State string
	// Phase is the label of the sandbox phase: Prefix/sandbox-phase.
	Phase string
	// SandboxID is the label and the annotation of the one that has claimed the pod: Prefix/sandbox-id.
	SandboxID string
	// StartedAt and LastActive are annotations of a running sandbox: Prefix/started-at, Prefix/last-active.
	StartedAt, LastActive string
	// Resize is the annotation of a change of resources: Prefix/inplace-resize-state.
	Resize string
}

// DefaultPrefix stands before the keys of the zero Keys.
const DefaultPrefix = "agentbox.navix.sh"

// DefaultKeys are the keys that the package's functions use, every field filled in.
func DefaultKeys() Keys { return Keys{}.Filled() }

// Filled is the same keys with every field filled in.
func (k Keys) Filled() Keys {
	k.Prefix = cmp.Or(k.Prefix, DefaultPrefix)
	k.State = cmp.Or(k.State, k.Key("inplace-update-state"))
	k.Phase = cmp.Or(k.Phase, k.Key("sandbox-phase"))
	k.SandboxID = cmp.Or(k.SandboxID, k.Key("sandbox-id"))
	k.StartedAt = cmp.Or(k.StartedAt, k.Key("started-at"))
	k.LastActive = cmp.Or(k.LastActive, k.Key("last-active"))
	k.Resize = cmp.Or(k.Resize, k.Key("inplace-resize-state"))
	return k
}

// Key is a name after the prefix.
func (k Keys) Key(name string) string { return cmp.Or(k.Prefix, DefaultPrefix) + "/" + name }

// The names after the prefix of what a pod carries while it is somebody's sandbox, and of how that ended. They go when
// the pod is idle again, beside the label and the annotation of the sandbox's id.
const (
	NameClaimedAt      = "claimed-at"
	NameMetadata       = "sandbox-metadata"
	NameStopReason     = "stop-reason"
	NameTerminatedAt   = "terminated-at"
	NameFailureReason  = "failure-reason"
	NameFailureMessage = "failure-message"
	NameExitCode       = "exit-code"
	NameRunningImages  = "running-images"
	NameContainerID    = "container-id"
	NamePostStartHooks = "post-start-hooks"
)

// identity are the annotations that an idle pod must not carry. k is Filled.
func (k Keys) identity() []string {
	keys := []string{k.SandboxID, k.StartedAt}
	for _, name := range []string{
		NameClaimedAt, NameMetadata, NameStopReason, NameTerminatedAt, NameFailureReason,
		NameFailureMessage, NameExitCode, NameRunningImages, NameContainerID, NamePostStartHooks,
	} {
		keys = append(keys, k.Key(name))
	}
	return keys
}
