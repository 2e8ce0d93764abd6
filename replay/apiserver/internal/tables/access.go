package tables

import (
	"cmp"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// subjects are those of a binding that are of one kind.
func subjects(o *object, a arguments) any {
	var names []string
	for _, s := range read[[]rbacv1.Subject](o, ".subjects") {
		switch {
		case s.Kind != a.at(0):
		case s.Kind == rbacv1.ServiceAccountKind:
			names = append(names, s.Namespace+"/"+s.Name)
		default:
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, ", ")
}

// paramRef is one object by name, in whichever namespace where none is said, or a selector of many.
func paramRef(o *object) string {
	ref := read[*admissionv1.ParamRef](o, ".spec.paramRef")
	switch {
	case ref == nil:
		return unset
	case ref.Name != "":
		return cmp.Or(ref.Namespace, "*") + "/" + ref.Name
	case ref.Selector != nil:
		return ref.Selector.String()
	default:
		return unset
	}
}

// signing goes by which conditions are there, whatever their status: a denial counts before an approval.
func signing(o *object) string {
	has := map[string]bool{}
	for _, condition := range o.conditions() {
		has[condition.Type] = true
	}
	word := "Pending"
	switch {
	case has["Denied"]:
		word = "Denied"
	case has["Approved"]:
		word = "Approved"
	}
	if has["Failed"] {
		word += ",Failed"
	}
	if o.text(".status.certificate", "") != "" {
		word += ",Issued"
	}
	return word
}

// issuance is the last condition of a PodCertificateRequest that ends it, whatever its status.
func issuance(o *object) string {
	state := "Pending"
	for _, c := range o.conditions() {
		if c.Type == "Issued" || c.Type == "Denied" || c.Type == "Failed" {
			state = c.Type
		}
	}
	return state
}

// available says whether the API of an APIService is, and why not.
func available(o *object) string {
	for _, c := range o.conditions() {
		switch {
		case c.Type != "Available":
		case !c.isTrue() && c.Reason != "":
			return fmt.Sprintf("%s (%s)", c.Status, c.Reason)
		default:
			return c.Status
		}
	}
	return "Unknown"
}

// shares are those of a priority level that is limited; the default is that of pkg/apis/flowcontrol/v1/defaults.go.
func shares(o *object) any {
	if !o.has(".spec.limited") {
		return none
	}
	return get(o, ".spec.limited.nominalConcurrencyShares", int64(30))
}
