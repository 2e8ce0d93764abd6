package writes

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkOptions validates the options of a write, and first of all the type of a
// patch.
func (w *write) checkOptions() error {
	var errs field.ErrorList
	of := ""
	switch w.Verb {
	case Create:
		of, errs = "CreateOptions", validation.ValidateCreateOptions(&metav1.CreateOptions{
			DryRun: w.Options.DryRun, FieldManager: w.Options.FieldManager, FieldValidation: w.Options.FieldValidation,
		})
	case Update:
		of, errs = "UpdateOptions", validation.ValidateUpdateOptions(&metav1.UpdateOptions{
			DryRun: w.Options.DryRun, FieldManager: w.Options.FieldManager, FieldValidation: w.Options.FieldValidation,
		})
	case Patch:
		if err := CheckPatchType(w.PatchType, w.kind.builtIn); err != nil {
			return err
		}
		of, errs = "PatchOptions", validation.ValidatePatchOptions(&w.Options, w.PatchType)
	case Delete, DeleteCollection:
		return checkDelete(w.Delete)
	}
	return badOptions(of, errs)
}

func checkDelete(o metav1.DeleteOptions) error {
	return badOptions("DeleteOptions", validation.ValidateDeleteOptions(&o))
}

func badOptions(of string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: of}, "", errs)
}

// CheckPatchType is 415 for a patch that a server doesn't take: custom
// resources take no strategic merge patches.
func CheckPatchType(t types.PatchType, builtIn bool) error {
	taken := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if builtIn {
		taken = append(taken, string(types.StrategicMergePatchType))
	}
	taken = append(taken, string(types.ApplyYAMLPatchType))
	for _, s := range taken {
		if string(t) == s {
			return nil
		}
	}
	if builtIn { // its router says so, before anything else looks at the request
		err := apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "", schema.GroupResource{}, "", "", 0, false)
		err.ErrStatus.Message = "415: Unsupported Media Type"
		return err
	}
	return UnsupportedMediaType(taken)
}

// UnsupportedMediaType is 415 with the types that would do
// (k8s.io/apiserver/pkg/endpoints/handlers/negotiation/errors.go).
func UnsupportedMediaType(accepted []string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %v", strings.Join(accepted, ", ")),
	}}
}
