// Package podupdate decides how the containers of a living pod are exchanged, and writes it: the machine that the
// documentation of package inplace describes. What Keys say is pure: no argument is changed, the same pod and time give the
// same bytes, and every error comes before any change. An Updater reads and writes by Pods, so that a program which has
// a client of its own doesn't link that of controller-runtime, and with it the clients of every group of Kubernetes.
//
// It calls no registry. It writes a pod only with the version that it has read, never over another's write, and never to a
// pod that was created again under the same name.
//
// Its API may still change (docs/stability.md).
package podupdate
