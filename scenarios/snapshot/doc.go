// Package snapshot makes a scenario file of a cluster as it was at one moment.
//
// In: the cluster's objects as JSON, one by one, from wherever they were read. Out: a [spec.File] with its nodes, workloads, pods and
// budgets, which can be simulated; and in its LeftOut, what the file can't say, one line for each kind of thing.
//
//	objects ──Add──► Reading ──File──► spec.File ──Write──► YAML
//
// Of pods the package decodes what places them on a node, sizes them and ends them. Environment, arguments, commands and annotations are
// never decoded, but for karpenter.sh/do-not-disrupt and the annotations by which Cluster API names a node's group. The package must
// never read a cluster, a file or a clock: internal/app/snapshot does.
//
// Its API may still change (docs/stability.md).
package snapshot
