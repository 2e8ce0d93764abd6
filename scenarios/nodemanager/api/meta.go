package api

import "time"

// ObjectMeta names an object. A name identifies it: no two live objects of a kind share one.
type ObjectMeta struct {
	Name              string    `json:"name"`
	CreationTimestamp time.Time `json:"creationTimestamp,omitzero"`
}

// ResourceSpec is the size of a machine. Quantities are strings in the notation of the cloud, compared as they are:
// "10G" and "10Gi" differ, and so do "1" and "1.0".
type ResourceSpec struct {
	CPU           string `json:"cpu,omitempty"`
	Memory        string `json:"memory,omitempty"`
	GPU           string `json:"gpu,omitempty"`
	VolumeSize    string `json:"volumeSize,omitempty"`
	PrivateIPOnly bool   `json:"privateIPOnly,omitempty"`
}

// PlacementSpec says where a machine has to be. The empty zone leaves the choice to the cloud.
type PlacementSpec struct {
	AvailabilityZone string `json:"availabilityZone,omitempty"`
}

// An AddressType says who can reach an address.
type AddressType string

// The kinds of addresses that a cloud gives a machine.
const (
	PrivateIP AddressType = "PrivateIP"
	PublicIP  AddressType = "PublicIP"
)

// A NetworkAddress is one address of a machine.
type NetworkAddress struct {
	Type    AddressType `json:"type"`
	Address string      `json:"address"`
}
