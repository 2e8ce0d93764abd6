package tables

import (
	"cmp"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const webhooksDescription = "Webhooks indicates the number of webhooks registered in this configuration"

func mutatingWebhooks() *Printer {
	return typed(func(c *admissionv1.MutatingWebhookConfiguration, now time.Time) []any {
		return []any{c.Name, int64(len(c.Webhooks)), since(c.CreationTimestamp, now)}
	}, nameColumn(), integer("Webhooks", webhooksDescription), ageColumn())
}

func validatingWebhooks() *Printer {
	return typed(func(c *admissionv1.ValidatingWebhookConfiguration, now time.Time) []any {
		return []any{c.Name, int64(len(c.Webhooks)), since(c.CreationTimestamp, now)}
	}, nameColumn(), integer("Webhooks", webhooksDescription), ageColumn())
}

const paramKindDescription = "ParamKind specifies the kind of resources used to parameterize this policy"

func validatingPolicies() *Printer {
	return typed(func(p *admissionv1.ValidatingAdmissionPolicy, now time.Time) []any {
		return []any{p.Name, int64(len(p.Spec.Validations)), paramKind(p.Spec.ParamKind), since(p.CreationTimestamp, now)}
	},
		nameColumn(),
		integer("Validations", "Validations indicates the number of validation rules defined in this configuration"),
		text("ParamKind", paramKindDescription),
		ageColumn(),
	)
}

func mutatingPolicies() *Printer {
	return typed(func(p *admissionv1.MutatingAdmissionPolicy, now time.Time) []any {
		return []any{p.Name, int64(len(p.Spec.Mutations)), paramKind(p.Spec.ParamKind), since(p.CreationTimestamp, now)}
	},
		nameColumn(),
		integer("Mutations", "Mutation indicates the number of mutations rules defined in this configuration"),
		text("ParamKind", paramKindDescription),
		ageColumn(),
	)
}

func paramKind(of *admissionv1.ParamKind) string {
	if of == nil {
		return unset
	}
	return of.APIVersion + "/" + of.Kind
}

func validatingPolicyBindings() *Printer {
	return typed(func(b *admissionv1.ValidatingAdmissionPolicyBinding, now time.Time) []any {
		return []any{b.Name, b.Spec.PolicyName, paramRef(b.Spec.ParamRef), since(b.CreationTimestamp, now)}
	}, policyBindingColumns()...)
}

func mutatingPolicyBindings() *Printer {
	return typed(func(b *admissionv1.MutatingAdmissionPolicyBinding, now time.Time) []any {
		return []any{b.Name, b.Spec.PolicyName, paramRef(b.Spec.ParamRef), since(b.CreationTimestamp, now)}
	}, policyBindingColumns()...)
}

func policyBindingColumns() []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		nameColumn(),
		text("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to"),
		text("ParamRef", "ParamRef indicates the param resource which sets the configuration param"),
		ageColumn(),
	}
}

// paramRef is one object by name, in whichever namespace where none is said, or a selector of many.
func paramRef(ref *admissionv1.ParamRef) string {
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
