// Package writescripts runs scripts of client writes against a cluster and says what the cluster's objects are once it has come to
// rest, so that a simulated cluster can be compared with a real control plane, field by field.
//
// In: the scripts below scripts/, each a template with parameters, and a [Cluster] to run them on. Out: a [Rest] for each
// moment at which a script waits for rest: every object in its namespace and every answer that it got, with generated names, UIDs,
// times and addresses replaced, so that two clusters' can be equal. [Compare] compares two of them but for what
// known.tsv lists, each row with its reason and with the minors of Kubernetes whose control planes differ so.
//
// The package must never know which kind of cluster it has.
package writescripts
