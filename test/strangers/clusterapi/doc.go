// Package clusterapi runs Cluster API's core controllers with a provider of our own, whose machines are nodes of the cluster that
// the controllers run in: it is management cluster and workload cluster.
package clusterapi
