// Package component is what the components of a simulated cluster share: what each is given ([Env]), what no API shows of
// a workload's program ([PodTraits]), room on a node, and the names of taints, labels and conditions.
//
// The components are scenarios/internal/kubelet, scheduler, controllers and autoscaler. A component sees the simulated
// API (scenarios/internal/kube) and the provider (scenarios/internal/cloud), and nothing else: no scenario's name, no
// script, no other component's memory. So whatever is done to the cluster, it answers as it would. What it sees it notes
// within a watch, and acts on later, from the loop, after the time that this takes it.
//
// Every random number comes from a stream of its own, named by the component and, where there are many, by the object,
// so that no component changes another's numbers.
package component
