package tables

import (
	"cmp"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"
)

// certificateSigningRequests describes its column Requestor as the request, as the API server does.
func certificateSigningRequests() *Printer {
	spec := certificatesv1beta1.CertificateSigningRequestSpec{}
	return typed(certificateSigningRequestCells,
		nameColumn(),
		ageColumn(),
		text("SignerName", doc(spec, "signerName")),
		text("Requestor", doc(spec, "request")),
		text("RequestedDuration", doc(spec, "expirationSeconds")),
		text("Condition", doc(certificatesv1beta1.CertificateSigningRequestStatus{}, "conditions")),
	)
}

func certificateSigningRequestCells(r *certificatesv1.CertificateSigningRequest, now time.Time) []any {
	requested := none
	if seconds := r.Spec.ExpirationSeconds; seconds != nil {
		requested = duration.HumanDuration(time.Duration(*seconds) * time.Second)
	}
	return []any{
		r.Name, since(r.CreationTimestamp, now), cmp.Or(r.Spec.SignerName, none), r.Spec.Username, requested,
		signingStatus(&r.Status),
	}
}

// signingStatus goes by which conditions are there, whatever their status: a denial counts before an approval.
func signingStatus(status *certificatesv1.CertificateSigningRequestStatus) string {
	has := map[certificatesv1.RequestConditionType]bool{}
	for _, condition := range status.Conditions {
		has[condition.Type] = true
	}
	word := "Pending"
	switch {
	case has[certificatesv1.CertificateDenied]:
		word = "Denied"
	case has[certificatesv1.CertificateApproved]:
		word = "Approved"
	}
	if has[certificatesv1.CertificateFailed] {
		word += ",Failed"
	}
	if len(status.Certificate) > 0 {
		word += ",Issued"
	}
	return word
}

func clusterTrustBundles() *Printer {
	return typed(func(b *certificatesv1beta1.ClusterTrustBundle, _ time.Time) []any {
		return []any{b.Name, cmp.Or(b.Spec.SignerName, none)}
	}, nameColumn(), text("SignerName", doc(certificatesv1beta1.ClusterTrustBundleSpec{}, "signerName")))
}

func podCertificateRequests() *Printer {
	spec := certificatesv1beta1.PodCertificateRequestSpec{}
	return typed(podCertificateRequestCells,
		nameColumn(),
		text("PodName", doc(spec, "podName")),
		text("ServiceAccountName", doc(spec, "serviceAccountName")),
		text("NodeName", doc(spec, "nodeName")),
		text("SignerName", doc(spec, "signerName")),
		text("State", "Is the request Pending, Issued, Denied, or Failed?"),
		text("UnverifiedUserAnnotations", doc(spec, "unverifiedUserAnnotations")),
	)
}

func podCertificateRequestCells(r *certificatesv1beta1.PodCertificateRequest, _ time.Time) []any {
	state := "Pending"
	for _, condition := range r.Status.Conditions {
		switch condition.Type {
		case certificatesv1beta1.PodCertificateRequestConditionTypeIssued,
			certificatesv1beta1.PodCertificateRequestConditionTypeDenied,
			certificatesv1beta1.PodCertificateRequestConditionTypeFailed:
			state = condition.Type // the types are Issued, Denied and Failed
		}
	}
	return []any{
		r.Name, r.Spec.PodName, r.Spec.ServiceAccountName, string(r.Spec.NodeName), r.Spec.SignerName, state,
		labels.FormatLabels(r.Spec.UnverifiedUserAnnotations),
	}
}
