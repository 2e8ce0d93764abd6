package discovery

// A groupResource names a resource in any version: {"policy", "poddisruptionbudgets"}.
type groupResource struct{ group, resource string }

// A builtinResource holds what discovery says of a built-in resource beside its kind and scope, which are the tape's.
// Lists are separated by spaces.
type builtinResource struct {
	short      string // short names
	categories string
	sub        string // subresources that a replay serves, in alphabetical order
	verbs      string // where they are not those of builtinVerbs
	stored     string // group/version that v1 and later are stored as, where it isn't the one that is served; "-": none
}

// builtin are the resources with objects that kube-apiserver 1.36 serves by default, as its discovery has them. The
// test against a control plane holds every line to the server's own.
var builtin = map[groupResource]builtinResource{
	{"", "componentstatuses"}:      {short: "cs", verbs: "get list", stored: "-"},
	{"", "configmaps"}:             {short: "cm"},
	{"", "endpoints"}:              {short: "ep"},
	{"", "events"}:                 {short: "ev"},
	{"", "limitranges"}:            {short: "limits"},
	{"", "namespaces"}:             {short: "ns", sub: "status", verbs: "create delete get list patch update watch"},
	{"", "nodes"}:                  {short: "no", sub: "status"},
	{"", "persistentvolumeclaims"}: {short: "pvc", sub: "status"},
	{"", "persistentvolumes"}:      {short: "pv", sub: "status"},
	{"", "pods"}:                   {short: "po", categories: "all", sub: "binding eviction status"},
	{"", "podtemplates"}:           {},
	{"", "replicationcontrollers"}: {short: "rc", categories: "all", sub: "scale status"},
	{"", "resourcequotas"}:         {short: "quota", sub: "status"},
	{"", "secrets"}:                {},
	{"", "serviceaccounts"}:        {short: "sa"},
	{"", "services"}:               {short: "svc", categories: "all", sub: "status"},

	{"admissionregistration.k8s.io", "mutatingadmissionpolicies"}:         {categories: "api-extensions", stored: "admissionregistration.k8s.io/v1beta1"},
	{"admissionregistration.k8s.io", "mutatingadmissionpolicybindings"}:   {categories: "api-extensions", stored: "admissionregistration.k8s.io/v1beta1"},
	{"admissionregistration.k8s.io", "mutatingwebhookconfigurations"}:     {categories: "api-extensions"},
	{"admissionregistration.k8s.io", "validatingadmissionpolicies"}:       {categories: "api-extensions", sub: "status"},
	{"admissionregistration.k8s.io", "validatingadmissionpolicybindings"}: {categories: "api-extensions"},
	{"admissionregistration.k8s.io", "validatingwebhookconfigurations"}:   {categories: "api-extensions"},

	{"apiextensions.k8s.io", "customresourcedefinitions"}: {short: "crd crds", categories: "api-extensions", sub: "status", stored: "apiextensions.k8s.io/v1beta1"},

	{"apiregistration.k8s.io", "apiservices"}: {categories: "api-extensions", sub: "status"},

	{"apps", "controllerrevisions"}: {},
	{"apps", "daemonsets"}:          {short: "ds", categories: "all", sub: "status"},
	{"apps", "deployments"}:         {short: "deploy", categories: "all", sub: "scale status"},
	{"apps", "replicasets"}:         {short: "rs", categories: "all", sub: "scale status"},
	{"apps", "statefulsets"}:        {short: "sts", categories: "all", sub: "scale status"},

	{"autoscaling", "horizontalpodautoscalers"}: {short: "hpa", categories: "all", sub: "status", stored: "autoscaling/v2"},

	{"batch", "cronjobs"}: {short: "cj", categories: "all", sub: "status"},
	{"batch", "jobs"}:     {categories: "all", sub: "status"},

	{"certificates.k8s.io", "certificatesigningrequests"}: {short: "csr", sub: "status"},

	{"coordination.k8s.io", "leases"}: {},

	{"discovery.k8s.io", "endpointslices"}: {},

	{"events.k8s.io", "events"}: {short: "ev", stored: "/v1"},

	{"flowcontrol.apiserver.k8s.io", "flowschemas"}:                 {sub: "status"},
	{"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"}: {sub: "status"},

	{"networking.k8s.io", "ingressclasses"}:  {},
	{"networking.k8s.io", "ingresses"}:       {short: "ing", sub: "status"},
	{"networking.k8s.io", "ipaddresses"}:     {short: "ip"},
	{"networking.k8s.io", "networkpolicies"}: {short: "netpol"},
	{"networking.k8s.io", "servicecidrs"}:    {sub: "status"},

	{"node.k8s.io", "runtimeclasses"}: {},

	{"policy", "poddisruptionbudgets"}: {short: "pdb", sub: "status"},

	{"rbac.authorization.k8s.io", "clusterrolebindings"}: {},
	{"rbac.authorization.k8s.io", "clusterroles"}:        {},
	{"rbac.authorization.k8s.io", "rolebindings"}:        {},
	{"rbac.authorization.k8s.io", "roles"}:               {},

	{"resource.k8s.io", "deviceclasses"}:          {},
	{"resource.k8s.io", "resourceclaims"}:         {sub: "status"},
	{"resource.k8s.io", "resourceclaimtemplates"}: {},
	{"resource.k8s.io", "resourceslices"}:         {},

	{"scheduling.k8s.io", "priorityclasses"}: {short: "pc"},

	{"storage.k8s.io", "csidrivers"}:              {},
	{"storage.k8s.io", "csinodes"}:                {},
	{"storage.k8s.io", "csistoragecapacities"}:    {},
	{"storage.k8s.io", "storageclasses"}:          {short: "sc"},
	{"storage.k8s.io", "volumeattachments"}:       {sub: "status"},
	{"storage.k8s.io", "volumeattributesclasses"}: {short: "vac"},
}
