package kube

// Annotations of claims and volumes (k8s.io/component-helpers, storage/volume/pv_helpers.go).
const (
	BindCompleted     = "pv.kubernetes.io/bind-completed"
	BoundByController = "pv.kubernetes.io/bound-by-controller"
	ProvisionedBy     = "pv.kubernetes.io/provisioned-by"
	SelectedNode      = "volume.kubernetes.io/selected-node"
	Provisioner       = "volume.kubernetes.io/storage-provisioner"
	BetaProvisioner   = "volume.beta.kubernetes.io/storage-provisioner"
)
