// Package quota is what ResourceQuotas count and what they forbid, as kube-apiserver's admission and kube-controller-manager have
// it in Kubernetes 1.36.
//
// In: the quotas of a namespace, and what is written there ([Admit]) or is there ([Used]). Out: the quotas with what they have
// charged, a refusal in the server's words, or what is used. Of ResourceClaims it counts the objects, not their devices. It never
// changes a quota that it is given.
package quota
