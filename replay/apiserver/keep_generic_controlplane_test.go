//go:build controlplane

package apiserver_test

import "strings"

const (
	genericSecrets  = "/api/v1/namespaces/generic/secrets"
	genericMaps     = "/api/v1/namespaces/generic/configmaps"
	genericAccounts = "/api/v1/namespaces/generic/serviceaccounts"
	genericRoles    = "/apis/rbac.authorization.k8s.io/v1/namespaces/generic/roles"
	genericLeases   = "/apis/coordination.k8s.io/v1/namespaces/generic/leases"
)

// genericSteps are about kinds that no actor answers to.
var genericSteps = []step{
	{"POST", genericSecrets, `{"metadata":{"name":"s"},"data":{"a":"MQ==","b":"MQ=="},"stringData":{"b":"2","c":"3"}}`},
	{"PATCH", genericSecrets + "/s", `{"stringData":{"c":"4"}}`},
	{"PATCH", genericSecrets + "/s", `{"data":{"a":null}}`},
	{"PATCH", genericSecrets + "/s?dryRun=All", `{"stringData":{"c":"5"}}`},
	{"GET", genericSecrets + "/s", ``},
	{"POST", genericSecrets, `{"metadata":{"name":"t"},"data":{"a":"not base64"}}`},
	{"POST", genericSecrets, `{"metadata":{"name":"t"},"type":"example.com/mine"}`},
	{"POST", genericAccounts, `{"metadata":{"name":"x","labels":{"a":"b"}}}`},
	{"PATCH", genericAccounts + "/x", `{"automountServiceAccountToken":false}`},
	{"DELETE", genericAccounts + "/x", ``},
	{"POST", genericRoles, `{"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`},
	{"PUT", genericRoles + "/q", `{"metadata":{"name":"q"},"rules":[{"apiGroups":["apps"],"resources":["deployments"],"verbs":["get"]}]}`},
	{"PATCH", genericRoles + "/r", `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}]}`},
	{"DELETE", genericRoles, ``},
	{"POST", genericLeases, `{"metadata":{"name":"l"},"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"acquireTime":"2026-01-01T00:00:00.000000Z"}}`},
	{"PUT", genericLeases + "/l", `{"metadata":{"name":"l","resourceVersion":"1"},"spec":{"holderIdentity":"b"}}`},
	{"PATCH", genericLeases + "/l", `{"spec":{"holderIdentity":null}}`},
	{"DELETE", genericLeases + "/l", `{"preconditions":{"uid":"other"}}`},
	{"DELETE", genericLeases + "/l", ``},
	{"POST", genericMaps, `{"metadata":{}}`},
	{"POST", genericMaps, `{"metadata":{"name":"big"},"data":{"a":"` + strings.Repeat("x", 3<<20) + `"}}`},
	{"PATCH", genericMaps + "/none", `{"data":{"a":"` + strings.Repeat("x", 3<<20) + `"}}`},
	{"DELETE", genericMaps + "?fieldSelector=metadata.name=none", ``},
	{"DELETE", genericMaps + "?fieldSelector=some.field=none", ``},
	{"DELETE", genericMaps + "?propagationPolicy=Sometime", ``},
}
