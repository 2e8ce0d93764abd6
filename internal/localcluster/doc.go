// Package localcluster runs a throwaway Kubernetes control plane on loopback: etcd, kube-apiserver,
// kube-controller-manager and kube-scheduler, the real programs, with no node and no kubelet.
//
// In: [Options]. Out: a [ControlPlane], whose API answers when [Start] returns, and in which pods can be created, and
// are bound as soon as a node is ready. Everything it owns is in one folder: certificates, data,
// logs, the kubeconfig. [ControlPlane.Stop] ends the programs and removes the folder; where this program is killed
// before, the watchdog of [github.com/nodesim/nodesim/internal/localcluster/process] does.
//
// # What it is like
//
// As kubeadm sets one up, where that makes sense on one machine without containers: RBAC, a certificate authority
// with client certificates for everyone, each controller with a service account of its own, aggregation of APIs
// ("kubectl top" through an APIService), a client certificate for kubelets (logs, exec, attach and port-forward reach
// whatever serves a node's kubelet port; its serving certificate isn't checked, as with kubeadm). All controllers run
// that do by default; there is no cloud provider, so nothing removes nodes. etcd listens on a socket in the folder,
// which no other user may enter; kube-apiserver on one port of 127.0.0.1; the other two on none.
//
// # Faster than real time
//
// [Options].Speed divides the delays that make a node's silence cost minutes; [Pace] lists them. What can't be divided,
// because it is a constant in Kubernetes: the pod garbage collector looks every 20 s and gives the pods of a node
// that is gone 40 s (pkg/controller/podgc/gc_controller.go: gcCheckPeriod, quarantineTime), the disruption controller
// forgets an eviction that led to nothing after two minutes (pkg/controller/disruption/disruption.go: DeletionTimeout).
// What objects ask for (grace periods, minReadySeconds, tolerationSeconds of their own) belongs to their writers,
// as do the leases of nodes to their kubelets.
//
// It must never use, change or end a cluster that it didn't start, nor touch anybody's ~/.kube/config.
package localcluster
