// Package clusters keeps control planes by name, for the commands that find them again.
//
// In: a name and the options of a control plane. Out: a [Cluster] that runs until [Cluster.Down], and for everybody
// other programs, its [Record]: where it is, since when, which process keeps it. [List], [Find] and [Down] work
// across programs; what keeps a cluster is always the program that called [Up], and when that dies the cluster is
// gone.
//
// Each cluster has a folder of its own below clusters/ in nodesim's cache folder. It lives as long as its keeper holds
// the lock in it; what a dead one has left is swept away by the next program that looks. There is one cluster of a
// name at a
// time; any number of names.
//
// It must never end, list or overwrite what wasn't made by Up.
package clusters
