package crd

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Check finds what is wrong with a new definition, but for its metadata
// (k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go).
func Check(d *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	var errs field.ErrorList
	if wanted := d.Spec.Names.Plural + "." + d.Spec.Group; d.Name != wanted {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), d.Name, `must be spec.names.plural+"."+spec.group`))
	}
	errs = append(errs, checkSpec(&d.Spec)...)
	errs = append(errs, checkStored(d)...)
	errs = append(errs, checkApproval(d)...)
	if d.Spec.PreserveUnknownFields {
		errs = append(errs, field.Invalid(field.NewPath("spec", "preserveUnknownFields"), true,
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"))
	}
	return errs
}

// CheckUpdate finds what is wrong with a changed definition.
func CheckUpdate(d, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	errs := checkSpec(&d.Spec)
	spec := field.NewPath("spec")
	if (&Definition{old, nil}).is(apiextensionsv1.Established) {
		errs = append(errs, apivalidation.ValidateImmutableField(d.Spec.Scope, old.Spec.Scope, spec.Child("scope"))...)
		errs = append(errs, apivalidation.ValidateImmutableField(d.Spec.Names.Kind, old.Spec.Names.Kind, spec.Child("names", "kind"))...)
	}
	errs = append(errs, apivalidation.ValidateImmutableField(d.Spec.Group, old.Spec.Group, spec.Child("group"))...)
	errs = append(errs, apivalidation.ValidateImmutableField(d.Spec.Names.Plural, old.Spec.Names.Plural, spec.Child("names", "plural"))...)
	return append(errs, checkStored(d)...)
}

func checkSpec(spec *apiextensionsv1.CustomResourceDefinitionSpec) (errs field.ErrorList) {
	at := field.NewPath("spec")
	add := func(e ...*field.Error) { errs = append(errs, e...) }
	switch said := validation.IsDNS1123Subdomain(spec.Group); {
	case spec.Group == "":
		add(field.Required(at.Child("group"), ""))
	case len(said) > 0:
		add(field.Invalid(at.Child("group"), spec.Group, strings.Join(said, ",")))
	case !strings.Contains(spec.Group, "."):
		add(field.Invalid(at.Child("group"), spec.Group, "should be a domain with at least one dot"))
	}
	scopes := []apiextensionsv1.ResourceScope{apiextensionsv1.ClusterScoped, apiextensionsv1.NamespaceScoped}
	if spec.Scope == "" {
		add(field.Required(at.Child("scope"), ""))
	} else if !slices.Contains(scopes, spec.Scope) {
		add(field.NotSupported(at.Child("scope"), string(spec.Scope), []string{string(scopes[0]), string(scopes[1])}))
	}
	add(checkVersions(spec, at)...)
	for _, n := range []struct{ name, is string }{
		{"plural", spec.Names.Plural}, {"singular", spec.Names.Singular}, {"kind", spec.Names.Kind}, {"listKind", spec.Names.ListKind},
	} {
		if n.is == "" {
			add(field.Required(at.Child("names", n.name), ""))
		}
	}
	add(checkNames(&spec.Names, at.Child("names"))...)
	return append(errs, checkConversion(spec.Conversion, at.Child("conversion"))...)
}

// checkVersions is about the versions. What is the same in all of them the server keeps in one place, and speaks of it
// there (its conversion of v1, pkg/apis/apiextensions/v1/conversion.go).
func checkVersions(spec *apiextensionsv1.CustomResourceDefinitionSpec, at *field.Path) (errs field.ErrorList) {
	add := func(e ...*field.Error) { errs = append(errs, e...) }
	versions := spec.Versions
	same := func(part func(*apiextensionsv1.CustomResourceDefinitionVersion) any, empty bool) bool {
		for i := range versions {
			if empty || !equality.Semantic.DeepEqual(part(&versions[i]), part(&versions[0])) {
				return false
			}
		}
		return len(versions) > 0
	}
	schemas := same(func(v *apiextensionsv1.CustomResourceDefinitionVersion) any { return v.Schema }, len(versions) > 0 && versions[0].Schema == nil)
	subresources := same(func(v *apiextensionsv1.CustomResourceDefinitionVersion) any { return v.Subresources }, len(versions) > 0 && versions[0].Subresources == nil)
	columns := same(func(v *apiextensionsv1.CustomResourceDefinitionVersion) any { return v.AdditionalPrinterColumns }, len(versions) > 0 && len(versions[0].AdditionalPrinterColumns) == 0)
	stored, names := 0, map[string]bool{}
	for i := range versions {
		if v := &versions[i]; v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			add(field.Required(at.Child("versions").Index(i).Child("schema", "openAPIV3Schema"), ""))
		}
	}
	var last field.ErrorList
	for i := range versions {
		v, here := &versions[i], at.Child("versions").Index(i)
		if v.Storage {
			stored++
		}
		names[v.Name] = true
		if said := validation.IsDNS1035Label(v.Name); len(said) > 0 {
			add(field.Invalid(here.Child("name"), v.Name, strings.Join(said, ",")))
		}
		for _, said := range checkDeprecation(v) {
			add(field.Invalid(here.Child("deprecationWarning"), *v.DeprecationWarning, said))
		}
		status := v.Subresources != nil && v.Subresources.Status != nil
		switch {
		case schemas && i == 0:
			last = append(last, checkSchema(v.Schema, status, at.Child("validation"))...)
		case !schemas:
			add(checkSchema(v.Schema, status, here.Child("schema"))...)
		}
		switch {
		case subresources && i == 0:
			last = append(last, checkSubresources(v.Subresources, at.Child("subresources"))...)
		case !subresources:
			add(checkSubresources(v.Subresources, here.Child("subresources"))...)
		}
		for c := range v.AdditionalPrinterColumns {
			switch {
			case columns && i == 0:
				last = append(last, checkColumn(&v.AdditionalPrinterColumns[c], at.Child("additionalPrinterColumns").Index(c))...)
			case !columns:
				add(checkColumn(&v.AdditionalPrinterColumns[c], here.Child("additionalPrinterColumns").Index(c))...)
			}
		}
	}
	if len(names) < len(versions) {
		add(field.Invalid(at.Child("versions"), versions, "must contain unique version names"))
	}
	if stored != 1 {
		add(field.Invalid(at.Child("versions"), versions, "must have exactly one version marked as storage version"))
	}
	return append(errs, last...)
}

func checkDeprecation(v *apiextensionsv1.CustomResourceDefinitionVersion) (said []string) {
	w := v.DeprecationWarning
	switch {
	case w == nil:
	case !v.Deprecated:
		said = append(said, "can only be set for deprecated versions")
	case len(*w) > 256:
		said = append(said, "must be <= 256 characters long")
	case *w == "":
		said = append(said, "must not be an empty string")
	}
	return said
}

func checkNames(names *apiextensionsv1.CustomResourceDefinitionNames, at *field.Path) (errs field.ErrorList) {
	label := func(at *field.Path, name, prefix string, lower bool) {
		is := name
		if lower {
			is = strings.ToLower(name)
		}
		if said := validation.IsDNS1035Label(is); name != "" && len(said) > 0 {
			errs = append(errs, field.Invalid(at, name, prefix+strings.Join(said, ",")))
		}
	}
	const mixed = "may have mixed case, but should otherwise match: "
	label(at.Child("plural"), names.Plural, "", false)
	label(at.Child("singular"), names.Singular, "", false)
	label(at.Child("kind"), names.Kind, mixed, true)
	label(at.Child("listKind"), names.ListKind, mixed, true)
	for i, short := range names.ShortNames {
		label(at.Child("shortNames").Index(i), short, "", false)
	}
	if names.Kind != "" && names.Kind == names.ListKind {
		errs = append(errs, field.Invalid(at.Child("listKind"), names.ListKind, "kind and listKind may not be the same"))
	}
	for i, c := range names.Categories {
		label(at.Child("categories").Index(i), c, "", false)
	}
	return errs
}

func checkColumn(c *apiextensionsv1.CustomResourceColumnDefinition, at *field.Path) (errs field.ErrorList) {
	types := []string{"boolean", "date", "integer", "number", "string"}
	known := []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
	if c.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	if wanted := "must be one of " + strings.Join(types, ","); c.Type == "" {
		errs = append(errs, field.Required(at.Child("type"), wanted))
	} else if !slices.Contains(types, c.Type) {
		errs = append(errs, field.Invalid(at.Child("type"), c.Type, wanted))
	}
	if c.Format != "" && !slices.Contains(known, c.Format) {
		errs = append(errs, field.Invalid(at.Child("format"), c.Format, "must be one of "+strings.Join(known, ",")))
	}
	if c.JSONPath == "" {
		return append(errs, field.Required(at.Child("JSONPath"), ""))
	}
	return append(errs, checkPath(c.JSONPath, at.Child("JSONPath"))...)
}

func checkPath(s string, at *field.Path) field.ErrorList {
	if s[0] != '.' {
		return field.ErrorList{field.Invalid(at, s, "must be a simple json path starting with .")}
	}
	return nil
}

func checkSubresources(s *apiextensionsv1.CustomResourceSubresources, at *field.Path) (errs field.ErrorList) {
	if s == nil || s.Scale == nil {
		return nil
	}
	below := func(name, path, part string) {
		where := at.Child("scale." + name)
		switch {
		case path == "":
			errs = append(errs, field.Required(where, ""))
		case path[0] != '.':
			errs = append(errs, checkPath(path, where)...)
		case !strings.HasPrefix(path, "."+part+"."):
			errs = append(errs, field.Invalid(where, path, "should be a json path under ."+part))
		}
	}
	below("specReplicasPath", s.Scale.SpecReplicasPath, "spec")
	below("statusReplicasPath", s.Scale.StatusReplicasPath, "status")
	if p := s.Scale.LabelSelectorPath; p != nil && *p != "" {
		where := at.Child("scale.labelSelectorPath")
		if bad := checkPath(*p, where); len(bad) > 0 {
			return append(errs, bad...)
		}
		if !strings.HasPrefix(*p, ".spec.") && !strings.HasPrefix(*p, ".status.") {
			errs = append(errs, field.Invalid(where, *p, "should be a json path under either .spec or .status"))
		}
	}
	return errs
}

func checkConversion(c *apiextensionsv1.CustomResourceConversion, at *field.Path) field.ErrorList {
	switch {
	case c == nil || c.Strategy == apiextensionsv1.NoneConverter && c.Webhook == nil:
		return nil
	case c.Strategy == "":
		return field.ErrorList{field.Required(at.Child("strategy"), "")}
	case c.Strategy == apiextensionsv1.NoneConverter:
		return field.ErrorList{field.Forbidden(at.Child("webhookClientConfig"), "should not be set when strategy is not set to Webhook")}
	case c.Strategy != apiextensionsv1.WebhookConverter:
		return field.ErrorList{field.NotSupported(at.Child("strategy"), string(c.Strategy), []string{string(apiextensionsv1.NoneConverter), string(apiextensionsv1.WebhookConverter)})}
	case c.Webhook == nil || c.Webhook.ClientConfig == nil:
		return field.ErrorList{field.Required(at.Child("webhookClientConfig"), "required when strategy is set to Webhook")}
	case len(c.Webhook.ConversionReviewVersions) == 0:
		return field.ErrorList{field.Required(at.Child("conversionReviewVersions"), "")}
	}
	return nil
}

// checkStored is about the versions in which objects may be stored.
func checkStored(d *apiextensionsv1.CustomResourceDefinition) (errs field.ErrorList) {
	at, stored := field.NewPath("status", "storedVersions"), d.Status.StoredVersions
	if len(stored) == 0 {
		return field.ErrorList{field.Invalid(at, stored, "must have at least one stored version")}
	}
	left := map[string]int{}
	for i, v := range stored {
		left[v] = i
	}
	for _, v := range d.Spec.Versions {
		if _, is := left[v.Name]; v.Storage && !is {
			errs = append(errs, field.Invalid(at, stored, "must have the storage version "+v.Name))
		}
		delete(left, v.Name)
	}
	for _, v := range sorted(left) {
		errs = append(errs, field.Invalid(at.Index(left[v]), v, fmt.Sprintf("missing from spec.versions; %[1]s was previously a storage version, "+
			"and must remain in spec.versions until a storage migration ensures no data remains persisted in %[1]s and removes %[1]s from status.storedVersions", v)))
	}
	return errs
}

// checkApproval is about the groups of Kubernetes' own (k8s.io/apiextensions-apiserver/pkg/apihelpers/helpers.go).
func checkApproval(d *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	g := d.Spec.Group
	if g != "k8s.io" && g != "kubernetes.io" && !strings.HasSuffix(g, ".k8s.io") && !strings.HasSuffix(g, ".kubernetes.io") {
		return nil
	}
	at := field.NewPath("metadata", "annotations").Key(apiextensionsv1.KubeAPIApprovedAnnotation)
	switch said := d.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation]; {
	case said == "":
		return field.ErrorList{field.Required(at, "protected groups must have approval annotation \""+apiextensionsv1.KubeAPIApprovedAnnotation+
			"\", see https://github.com/kubernetes/enhancements/pull/1111")}
	case !strings.HasPrefix(said, "unapproved") && !strings.HasPrefix(said, "https://") && !strings.HasPrefix(said, "http://"):
		return field.ErrorList{field.Invalid(at, said, "protected groups must have approval annotation \""+apiextensionsv1.KubeAPIApprovedAnnotation+
			"\" with either a URL or a reason starting with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111")}
	}
	return nil
}
