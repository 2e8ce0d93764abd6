// Package testcluster runs a real Kubernetes control plane for tests: etcd and kube-apiserver through envtest, and,
// where a test asks for them, kube-controller-manager, kube-scheduler and kubelets without containers.
//
// In: the binaries that `make controlplane` builds (package assets says where they are looked for) and [Options].
// Out: a [Cluster] with a rest.Config, and what a test does to a cluster: stop, kill and start the API server on the
// same port over the same data, compact etcd, put a [Proxy] in the way of a client, provision users with few rights,
// fill a node group, run one [Roll], let a kubelet fall silent.
//
// A missing binary is a fatal error that names `make controlplane`, never a skipped test.
//
// # One cluster a package
//
// Tests that need a server are in files named *_controlplane_test.go behind the build tag controlplane. One of
// them holds
//
//	func TestMain(m *testing.M) { testcluster.Main(m, testcluster.Options{}) }
//
// and the tests call [Shared], which starts the package's cluster when it is first asked for. A test that wants flags
// of its own, or that breaks its server while others run beside it, calls [New].
//
// # What ends a watch with 410 Expired
//
// With the watch cache (the default of kube-apiserver), the cache's memory is the window: after a restart it begins
// at the version of the first list, and a watch from any version before that is answered with 410, whether or not
// etcd still has the events (k8s.io/apiserver, pkg/storage/cacher/watch_cache.go, getAllEventsSinceLocked).
// Compacting etcd changes nothing for it until then. Without the watch cache ([Options].NoWatchCache), etcd's history
// is the window: a restart loses nothing, and a compaction gives 410 at once. [Cluster.ExpireWatches] makes every
// earlier version a 410 in both modes. envtest never compacts by itself here: the API server's own compaction every
// five minutes is off.
//
// # What is left behind
//
// Nothing: Stop ends and reaps every process and removes the folder. If the test process itself is killed, the watchdog
// of internal/localcluster/process does so. NODESIM_KEEP=1 keeps the folder of logs.
//
// The package must never be imported by anything but tests and never touch a cluster that it didn't start.
package testcluster
