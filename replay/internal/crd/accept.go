package crd

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Accept gives a definition the names that no other of its group has taken, and says so in its conditions; it reports
// whether that changed it (k8s.io/apiextensions-apiserver/pkg/controller/status/naming_controller.go).
func Accept(d *apiextensionsv1.CustomResourceDefinition, others []*Definition, now metav1.Time) bool {
	if equality.Semantic.DeepEqual(d.Spec.Names, d.Status.AcceptedNames) {
		return false
	}
	resources, kinds := map[string]bool{}, map[string]bool{}
	for _, o := range others {
		if n := o.CustomResourceDefinition.Status.AcceptedNames; o.Spec.Group == d.Spec.Group && o.Name != d.Name {
			for _, name := range append([]string{n.Plural, n.Singular}, n.ShortNames...) {
				resources[name] = true
			}
			kinds[n.Kind], kinds[n.ListKind] = true, true
		}
	}
	was := d.Status
	is, want := &d.Status.AcceptedNames, d.Spec.Names
	names := condition(apiextensionsv1.NamesAccepted, true, "NoConflicts", "no conflicts found")
	conflict := func(reason, message string) {
		names = condition(apiextensionsv1.NamesAccepted, false, reason, message)
	}
	take := func(has *string, name, reason string, used map[string]bool) {
		if name != *has && used[name] {
			conflict(reason, fmt.Sprintf("%q is already in use", name))
			return
		}
		*has = name
	}
	take(&is.Plural, want.Plural, "PluralConflict", resources)
	take(&is.Singular, want.Singular, "SingularConflict", resources)
	var taken []string
	for _, short := range want.ShortNames {
		if resources[short] && !slices.Contains(is.ShortNames, short) {
			taken = append(taken, fmt.Sprintf("%q is already in use", short))
		}
	}
	switch len(taken) {
	case 0:
		is.ShortNames = want.ShortNames
	case 1:
		conflict("ShortNamesConflict", taken[0])
	default:
		conflict("ShortNamesConflict", "["+strings.Join(taken, ", ")+"]")
	}
	take(&is.Kind, want.Kind, "KindConflict", kinds)
	take(&is.ListKind, want.ListKind, "ListKindConflict", kinds)
	is.Categories = want.Categories

	established := condition(apiextensionsv1.Established, false, "NotAccepted", "not all names are accepted")
	of := Definition{CustomResourceDefinition: d}
	if old := of.condition(apiextensionsv1.Established); old != nil {
		established = *old
	}
	if established.Status != apiextensionsv1.ConditionTrue && names.Status == apiextensionsv1.ConditionTrue {
		established = condition(apiextensionsv1.Established, false, "Installing", "the initial names have been accepted")
	}
	set(d, names, now)
	set(d, established, now)
	return !equality.Semantic.DeepEqual(was, d.Status)
}

// Establish says of a definition whose names are accepted that its resources are served, and reports whether that is
// news (pkg/controller/establish/establishing_controller.go there).
func Establish(d *apiextensionsv1.CustomResourceDefinition, now metav1.Time) bool {
	of := Definition{CustomResourceDefinition: d}
	if !of.is(apiextensionsv1.NamesAccepted) || of.is(apiextensionsv1.Established) {
		return false
	}
	set(d, condition(apiextensionsv1.Established, true, "InitialNamesAccepted", "the initial names have been accepted"), now)
	return true
}

// AtRest reports whether a server's controllers do nothing about a definition before it or another one is written.
func (d *Definition) AtRest() bool {
	return d.DeletionTimestamp == nil && d.is(apiextensionsv1.Established) && equality.Semantic.DeepEqual(d.Spec.Names, d.Status.AcceptedNames)
}

// Cleanup is the finalizer of a definition whose objects are to be deleted first.
const Cleanup = apiextensionsv1.CustomResourceCleanupFinalizer

// Terminate begins the end of a definition (pkg/registry/customresourcedefinition/etcd.go there, Delete).
func Terminate(d *apiextensionsv1.CustomResourceDefinition, now metav1.Time) {
	if d.DeletionTimestamp == nil {
		d.DeletionTimestamp = &now
	}
	if !slices.Contains(d.Finalizers, Cleanup) {
		d.Finalizers = append(d.Finalizers, Cleanup)
	}
	set(d, condition(apiextensionsv1.Terminating, true, "InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"), now)
}

// Progress says that the objects of a definition are being deleted, and reports whether that is news
// (pkg/controller/finalizer/crd_finalizer.go there).
func Progress(d *apiextensionsv1.CustomResourceDefinition, now metav1.Time) bool {
	was := d.Status
	set(d, condition(apiextensionsv1.Terminating, true, "InstanceDeletionInProgress", "CustomResource deletion is in progress"), now)
	return !equality.Semantic.DeepEqual(was, d.Status)
}

// Finish says that they are gone, and takes the finalizer away.
func Finish(d *apiextensionsv1.CustomResourceDefinition, now metav1.Time) {
	of := Definition{CustomResourceDefinition: d}
	if of.is(apiextensionsv1.Established) {
		set(d, condition(apiextensionsv1.Terminating, false, "InstanceDeletionCompleted", "removed all instances"), now)
	} else {
		set(d, condition(apiextensionsv1.Terminating, false, "NeverEstablished", "resource was never established"), now)
	}
	d.Finalizers = slices.DeleteFunc(d.Finalizers, func(f string) bool { return f == Cleanup })
}

func condition(t apiextensionsv1.CustomResourceDefinitionConditionType, is bool, reason, message string) apiextensionsv1.CustomResourceDefinitionCondition {
	status := apiextensionsv1.ConditionFalse
	if is {
		status = apiextensionsv1.ConditionTrue
	}
	return apiextensionsv1.CustomResourceDefinitionCondition{Type: t, Status: status, Reason: reason, Message: message}
}

func (d *Definition) condition(t apiextensionsv1.CustomResourceDefinitionConditionType) *apiextensionsv1.CustomResourceDefinitionCondition {
	all := d.CustomResourceDefinition.Status.Conditions
	for i := range all {
		if all[i].Type == t {
			return &all[i]
		}
	}
	return nil
}

// set is SetCRDCondition of pkg/apihelpers there: the time is that of a change of the status.
func set(d *apiextensionsv1.CustomResourceDefinition, c apiextensionsv1.CustomResourceDefinitionCondition, now metav1.Time) {
	c.LastTransitionTime = now
	of := Definition{CustomResourceDefinition: d}
	if old := of.condition(c.Type); old != nil {
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		conditions := slices.Clone(d.Status.Conditions)
		for i := range conditions {
			if conditions[i].Type == c.Type {
				conditions[i] = c
			}
		}
		d.Status.Conditions = conditions
		return
	}
	d.Status.Conditions = append(slices.Clone(d.Status.Conditions), c)
}
