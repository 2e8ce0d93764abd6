package tables

import "k8s.io/apimachinery/pkg/runtime/schema"

// builtin are the resources of kube-apiserver itself, and what makes their printers.
var builtin = map[schema.GroupResource]func(version string) *Printer{
	{Resource: "componentstatuses"}:      always(componentStatuses),
	{Resource: "configmaps"}:             always(configMaps),
	{Resource: "endpoints"}:              always(endpoints),
	{Resource: "events"}:                 always(coreEvents),
	{Resource: "limitranges"}:            always(created),
	{Resource: "namespaces"}:             always(namespaces),
	{Resource: "nodes"}:                  always(nodes),
	{Resource: "persistentvolumeclaims"}: always(persistentVolumeClaims),
	{Resource: "persistentvolumes"}:      always(persistentVolumes),
	{Resource: "pods"}:                   always(pods),
	{Resource: "podtemplates"}:           always(podTemplates),
	{Resource: "replicationcontrollers"}: always(replicationControllers),
	{Resource: "resourcequotas"}:         always(resourceQuotas),
	{Resource: "secrets"}:                always(secrets),
	{Resource: "serviceaccounts"}:        always(aged),
	{Resource: "services"}:               always(services),

	{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicies"}:         always(mutatingPolicies),
	{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicybindings"}:   always(mutatingPolicyBindings),
	{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"}:     always(mutatingWebhooks),
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicies"}:       always(validatingPolicies),
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicybindings"}: always(validatingPolicyBindings),
	{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations"}:   always(validatingWebhooks),

	{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}: always(created),
	{Group: "apiregistration.k8s.io", Resource: "apiservices"}:             always(apiServices),

	{Group: "apps", Resource: "controllerrevisions"}: always(controllerRevisions),
	{Group: "apps", Resource: "daemonsets"}:          always(daemonSets),
	{Group: "apps", Resource: "deployments"}:         always(deployments),
	{Group: "apps", Resource: "replicasets"}:         always(replicaSets),
	{Group: "apps", Resource: "statefulsets"}:        always(statefulSets),

	{Group: "autoscaling", Resource: "horizontalpodautoscalers"}: autoscalers,

	{Group: "batch", Resource: "cronjobs"}: always(cronJobs),
	{Group: "batch", Resource: "jobs"}:     always(jobs),

	{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}: always(certificateSigningRequests),
	{Group: "certificates.k8s.io", Resource: "clustertrustbundles"}:        always(clusterTrustBundles),
	{Group: "certificates.k8s.io", Resource: "podcertificaterequests"}:     always(podCertificateRequests),

	{Group: "coordination.k8s.io", Resource: "leasecandidates"}: always(leaseCandidates),
	{Group: "coordination.k8s.io", Resource: "leases"}:          always(leases),

	{Group: "discovery.k8s.io", Resource: "endpointslices"}: always(endpointSlices),
	{Group: "events.k8s.io", Resource: "events"}:            always(newerEvents),

	{Group: "flowcontrol.apiserver.k8s.io", Resource: "flowschemas"}:                 always(flowSchemas),
	{Group: "flowcontrol.apiserver.k8s.io", Resource: "prioritylevelconfigurations"}: always(priorityLevels),

	{Group: "internal.apiserver.k8s.io", Resource: "storageversions"}:        always(storageVersions),
	{Group: "storagemigration.k8s.io", Resource: "storageversionmigrations"}: always(storageVersionMigrations),

	{Group: "networking.k8s.io", Resource: "ingressclasses"}:  always(ingressClasses),
	{Group: "networking.k8s.io", Resource: "ingresses"}:       always(ingresses),
	{Group: "networking.k8s.io", Resource: "ipaddresses"}:     always(ipAddresses),
	{Group: "networking.k8s.io", Resource: "networkpolicies"}: always(networkPolicies),
	{Group: "networking.k8s.io", Resource: "servicecidrs"}:    always(serviceCIDRs),

	{Group: "node.k8s.io", Resource: "runtimeclasses"}:  always(runtimeClasses),
	{Group: "policy", Resource: "poddisruptionbudgets"}: always(disruptionBudgets),

	{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}: always(clusterRoleBindings),
	{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}:        always(created),
	{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"}:        always(roleBindings),
	{Group: "rbac.authorization.k8s.io", Resource: "roles"}:               always(created),

	{Group: "resource.k8s.io", Resource: "deviceclasses"}:              always(aged),
	{Group: "resource.k8s.io", Resource: "devicetaintrules"}:           always(deviceTaintRules),
	{Group: "resource.k8s.io", Resource: "resourceclaims"}:             always(resourceClaims),
	{Group: "resource.k8s.io", Resource: "resourceclaimtemplates"}:     always(aged),
	{Group: "resource.k8s.io", Resource: "resourcepoolstatusrequests"}: always(poolStatusRequests),
	{Group: "resource.k8s.io", Resource: "resourceslices"}:             always(resourceSlices),

	{Group: "scheduling.k8s.io", Resource: "podgroups"}:       always(podGroups),
	{Group: "scheduling.k8s.io", Resource: "priorityclasses"}: always(priorityClasses),
	{Group: "scheduling.k8s.io", Resource: "workloads"}:       always(aged),

	{Group: "storage.k8s.io", Resource: "csidrivers"}:              always(csiDrivers),
	{Group: "storage.k8s.io", Resource: "csinodes"}:                always(csiNodes),
	{Group: "storage.k8s.io", Resource: "csistoragecapacities"}:    always(created),
	{Group: "storage.k8s.io", Resource: "storageclasses"}:          always(storageClasses),
	{Group: "storage.k8s.io", Resource: "volumeattachments"}:       always(volumeAttachments),
	{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}: always(volumeAttributesClasses),
}

// always is for the kinds that look the same in all versions, as far as the cells go.
func always(printer func() *Printer) func(string) *Printer {
	return func(string) *Printer { return printer() }
}
