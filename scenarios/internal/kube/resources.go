package kube

import "github.com/nodesim/nodesim/timeline"

// NodeClaims is the resource of Karpenter's NodeClaims, for a tape's header.
var NodeClaims = timeline.Resource{Group: "karpenter.sh", Version: "v1", Kind: "NodeClaim", Resource: "nodeclaims"}

// Machines is the resource of Cluster API's Machines, for a tape's header.
var Machines = timeline.Resource{Group: "cluster.x-k8s.io", Version: "v1beta1", Kind: "Machine", Resource: "machines", Namespaced: true}
