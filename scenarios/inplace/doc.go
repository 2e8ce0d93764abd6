// Package inplace exchanges the images of containers, and their resources, inside a living pod: the pod keeps its name,
// UID, node and address, and only its containers are replaced.
//
// In: a pod as the API server has it, what is wanted (UpdateOptions, or resources by container), and the time. Out:
// the pod as it has to be written, and how far an update has come. All of an update is on its pod: the annotation
// Keys.State holds the State, the label Keys.Phase the sandbox phase. Any reader of the pod can resume it.
//
// # The machine
//
//	idle → starting → running → stopping → idle          label, beside failed
//	     starting or stopping → completed or failed      State.Phase
//
//	Keys.Apply               what a trigger writes: images, metadata, the state in flight
//	Keys.Progress            None, InProgress, Done or Failed, with a reason
//	Keys.Complete            what a mark writes: the phase at the end, and what its containers ran by
//	Keys.Rollback, Fail      the ways out of an update that doesn't come to its end
//	Keys.UnexpectedRestart   a container that was restarted since
//	Keys.PhaseSince          since when a pod is in its phase
//
// They are pure: no argument is changed, the same pod and time give the same bytes, and every error comes before any
// change. They are those of package podupdate, which links no client.
// TriggerUpdateWithOptions, MarkUpdateCompleted and the other functions here are the same over a controller-runtime client,
// with DefaultKeys and the wall clock; a podupdate.Updater has its own keys, clock and digests. Package roller rolls a set of pods,
// package pool keeps a pool of idle ones.
//
// # When an update is complete
//
// The kubelet replaces a container when its image's name in the spec changes (k8s.io/kubernetes,
// pkg/kubelet/kuberuntime, containerChanged), in the pod's sandbox, whatever its restart policy. So a new container
// id is the proof, not the image: two names may have one digest. The image id then says that it is the wanted image,
// by Digests where they know it.
//
// # What the package must never do
//
// It calls no registry. It writes a pod only with the version that it has read, never over another's write, and never
// to a pod that was created again under the same name. It deletes no pod and restarts nothing.
//
// Its API may still change (docs/stability.md).
package inplace
