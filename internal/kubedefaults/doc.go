// Package kubedefaults fills in what kube-apiserver does in an object that leaves
// it out: a Deployment's strategy, a container's pull policy, a probe's period.
//
// In: a kind and an object of it as decoded JSON, with int64 for integers, as
// its Go type holds it. Out: the same object with more members. It never changes
// what the object says, and leaves to others what the server does after it:
// statuses but a pod's quality of service, selectors but a Job's, admission,
// allocated addresses. And the finalizers that a delete leaves on it, and what a
// CronJob's schedule means.
//
// Not filled in: requests and limits of a pod as a whole (spec.resources), and
// what exists only behind feature gates that are off by default.
package kubedefaults
