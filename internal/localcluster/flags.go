package localcluster

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// The network of Services, as kubeadm has it, and the address that the service kubernetes gets in it.
const (
	services  = "10.96.0.0/16"
	serviceIP = "10.96.0.1"
)

// etcd's sockets, in the folder in which it and the API server run: a whole path may be longer than a socket's may be.
// etcd wants something that looks like a port.
const (
	etcdClient = "unix://etcd:1"
	etcdPeer   = "unix://peer:1"
)

func (c *ControlPlane) etcdFlags() map[string]string {
	return map[string]string{
		"name":                        "nodesim",
		"data-dir":                    c.group.Path("etcd"), // a whole path, so that the process can be known by its arguments
		"listen-client-urls":          etcdClient,
		"advertise-client-urls":       etcdClient,
		"listen-peer-urls":            etcdPeer,
		"initial-advertise-peer-urls": etcdPeer,
		"initial-cluster":             "nodesim=" + etcdPeer,
		"unsafe-no-fsync":             "true", // what is thrown away needn't survive the machine
		"log-level":                   "warn",
	}
}

func (c *ControlPlane) apiServerFlags() map[string]string {
	file := func(name string) string { return c.group.Path("certs", name) }
	toleration := strconv.Itoa(c.pace.Toleration)
	flags := map[string]string{
		"etcd-servers":             etcdClient,
		"bind-address":             "127.0.0.1",
		"secure-port":              strconv.Itoa(c.port),
		"advertise-address":        "127.0.0.1",
		"endpoint-reconciler-type": "none", // no endpoint may be an address of loopback
		"service-cluster-ip-range": services,
		"allow-privileged":         "true",
		"authorization-mode":       "RBAC",
		"profiling":                "false",

		"client-ca-file":                   file("ca.crt"),
		"tls-cert-file":                    file("apiserver.crt"),
		"tls-private-key-file":             file("apiserver.key"),
		"service-account-issuer":           "https://kubernetes.default.svc.cluster.local",
		"service-account-key-file":         file("service-accounts.key"),
		"service-account-signing-key-file": file("service-accounts.key"),

		"kubelet-client-certificate":      file("apiserver-kubelet-client.crt"),
		"kubelet-client-key":              file("apiserver-kubelet-client.key"),
		"kubelet-preferred-address-types": "Hostname,InternalIP,ExternalIP", // nodes of many names may share one listener of this host

		"requestheader-client-ca-file":       file("front-proxy-ca.crt"),
		"requestheader-allowed-names":        "front-proxy-client",
		"requestheader-extra-headers-prefix": "X-Remote-Extra-",
		"requestheader-group-headers":        "X-Remote-Group",
		"requestheader-username-headers":     "X-Remote-User",
		"proxy-client-cert-file":             file("front-proxy-client.crt"),
		"proxy-client-key-file":              file("front-proxy-client.key"),

		"default-not-ready-toleration-seconds":   toleration,
		"default-unreachable-toleration-seconds": toleration,

		// By default a stop waits a minute for open watches (k8s.io/apiserver, pkg/server/genericapiserver.go,
		// ShutdownTimeout). These two end them at once, cleanly, and bound the rest to two seconds.
		"shutdown-send-retry-after":               "true",
		"shutdown-watch-termination-grace-period": "1s",
	}
	if c.options.AuditLog != "" {
		flags["audit-policy-file"] = c.group.Path("audit-policy.yaml")
		flags["audit-log-path"] = c.options.AuditLog
		// One file that grows, in megabytes: by default another begins after 100, and up to 1.35 where this is 0, too (k8s.io/apiserver,
		// pkg/server/options/audit.go; lumberjack's Logger.max).
		flags["audit-log-maxsize"] = "1048576"
	}
	return flags
}

func (c *ControlPlane) controllerManagerFlags() map[string]string {
	file := func(name string) string { return c.group.Path("certs", name) }
	return map[string]string{
		"kubeconfig":                       file("controller-manager.kubeconfig"),
		"leader-elect":                     "false",
		"secure-port":                      "0",
		"use-service-account-credentials":  "true",
		"service-account-private-key-file": file("service-accounts.key"),
		"root-ca-file":                     file("ca.crt"),
		"kube-api-qps":                     "500",
		"kube-api-burst":                   "1000",
		"profiling":                        "false",
		"node-monitor-period":              c.pace.NodeMonitor.String(),
		"node-monitor-grace-period":        c.pace.NodeGrace.String(),
		"node-startup-grace-period":        c.pace.NodeStartup.String(),
		"node-eviction-rate":               number(c.pace.EvictionRate),
		"secondary-node-eviction-rate":     number(c.pace.SlowEvictionRate),
	}
}

func (c *ControlPlane) schedulerFlags() map[string]string {
	return map[string]string{
		"config":                                 c.group.Path("scheduler.yaml"),
		"secure-port":                            "0",
		"pod-max-in-unschedulable-pods-duration": c.pace.Flush.String(),
	}
}

// schedulerConfig is where kube-scheduler takes its clients and its back-off from; it has no flags for them.
const schedulerConfig = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %q, qps: 1000, burst: 2000}
leaderElection: {leaderElect: false}
enableProfiling: false
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: %d
`

func (c *ControlPlane) schedulerFile() []byte {
	return fmt.Appendf(nil, schedulerConfig, c.group.Path("certs", "scheduler.kubeconfig"), c.pace.Backoff)
}

// auditPolicy records which user has written what and when, once each. Leases and Events would be most of it: a
// thousand nodes
// renew a hundred leases a second.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  resources: [{group: coordination.k8s.io, resources: [leases]}, {group: "", resources: [events]}, {group: events.k8s.io, resources: [events]}]
- level: None
  resources: [{group: authentication.k8s.io}, {group: authorization.k8s.io}, {group: "", resources: [serviceaccounts/token]}]
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
`

// arguments spells flags in a stable order; those of the options win.
func arguments(flags, more map[string]string) []string {
	all := maps.Clone(flags)
	maps.Copy(all, more)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, "--"+name+"="+all[name])
	}
	return list
}
