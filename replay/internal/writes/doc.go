// Package writes handles writes to a replay: they are refused, or
// validated, answered as an API server would, and logged, while the tape goes
// on unchanged, so that real controllers can run against it.
//
// Or they are kept, where a cluster takes them ([Keep]).
//
// # What goes in, what comes out
//
// A [Request], whatever its transport, goes into [Handler.Handle]; an [Answer], the
// object or Status that an API server would send, comes out, or one of its
// errors. Adapters do the rest: package fakeclient makes requests of client-go's
// actions, package apiserver of HTTP. Each write is an [Entry], which
// [Lines] writes as a line of JSON. [Refuse] is the answer of a replay that
// takes no writes.
//
// # What a write is checked against
//
// The tape's state at the moment when it comes, without faults: what
// a FaultInjector shows to clients doesn't count, but it is asked first
// (Cluster.Admit). Nothing is remembered. What is read after a write is what the
// tape says, as if it had been undone; a second eviction meets the same
// budget as the first.
//
// An answer carries the newest version of its resource, so that a watch from it
// misses nothing and no client waits for a version that never comes. As the version
// of an update any counts at which the tape's object was as it is: so a client
// that updates what an update has returned isn't refused, until the tape changes
// the object.
//
// A new object's UID is computed from its name and the number of objects made
// so far, a generated name ends in a number, and times are the tape's: nothing
// differs from run to run.
//
// Of a built-in resource that the tape doesn't hold every well-formed write is
// accepted, since controllers write Events and Leases; there nothing is absent
// and nothing is there already. Other resources that it doesn't hold are 404.
//
// # What is kept
//
// A Handler of [Keep] stores what it accepts, and answers with what is stored.
// It reads and writes at one moment of the cluster's time, at which nothing else
// happens ([replay.Player.Transact]). An update needs the version that the object
// has now. One that changes nothing stores nothing, nor does a dry run, which
// leaves no mark on later names and UIDs.
//
// What is deleted is first marked, where it has finalizers, is a pod with time to
// end, or a namespace, and goes with its last finalizer; the pods of nodes and the
// contents of namespaces are for the cluster's actors to end. An eviction takes a
// disruption off its budget. What the cluster doesn't hold is 404.
//
// A CustomResourceDefinition that is written is accepted, established and served at once,
// and its objects are what its schemas make of them (package crd). Those of
// a definition that is deleted go with it.
//
// Which client set which field is kept too (metadata.managedFields), for server-side apply with its conflicts. What
// actors write is nobody's.
//
// # What is checked
//
// Names, namespaces, kinds and versions in URL and body; metadata, as
// apimachinery validates it; unknown and repeated fields, as errors or warnings;
// versions and UIDs; options; patches of each type; the grace of pods and the
// finalizers of all; disruption budgets; bindings. Of nodes: taints, podCIDRs,
// providerID, addresses. Of pods: containers, names and images, and all that
// can't change. Of budgets all. Of workloads: selectors, strategies, counts, schedules,
// time zones, policies of Jobs and what can't change. Of ConfigMaps and Secrets: their
// keys. Of CustomResourceDefinitions and their objects, where they
// are kept, what package crd says. What is wrong with
// an object on the tape already isn't held against a change of something else.
//
// The test of apiserver/internal/inbound puts some nine hundred writes, most of
// them bad, to a real kube-apiserver and here, and lists what is answered in
// another way.
//
// # What isn't
//
// The rest of the validation of k8s.io/kubernetes, which can't be imported:
// other fields of the kinds above, and everything about further kinds but their
// metadata. On a tape, the schemas, defaults, scale paths and validation
// rules of custom resources: their status is taken to be a subresource.
//
// Where what is written is kept, what it leaves out is filled in as
// kube-apiserver does (package kubedefaults), and nowhere else. Of admission there is this: a new node is tainted as not
// ready; where the tape holds namespaces, that of an object has to exist; and where
// what is written is kept, a pod is given its service account, its priority and
// how long it stays on a node that isn't ready; LimitRanges and quotas bound what
// is in their namespaces. There is no webhook, no authorization. Where nothing is kept there are no
// managed fields: a server-side apply is merged by client-go's schemas (of a
// custom resource by what it shows, lists replaced whole), finds no conflicts,
// and never removes what it no longer names. Subresources other than status,
// scale, eviction and binding are 405.
//
// # What is too much
//
// A JSON patch may have 10,000 operations, and its copies may add 3 MiB, as on a
// server. The list items of a strategic merge patch are compared with those of the
// object and with each other at most 4,000,000 times; more is 413, where a server
// would work on until the request times out.
//
// # What it never does
//
// It changes nothing but what it keeps, reads no clock, and logs no contents of Secrets nor
// anything that is written to a resource of tokens.
package writes
