package place

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// UntilHeld waits until a Lease of kube-system has a holder other than this one, and returns it.
func (p *Place) UntilHeld(lease, other string) (holder string) {
	p.Helper()
	p.Eventually(5*time.Minute, "a leader", func() (bool, string) {
		l, err := p.Kube.CoordinationV1().Leases(metav1.NamespaceSystem).Get(p.Context(), lease, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		if l.Spec.HolderIdentity != nil {
			holder = *l.Spec.HolderIdentity
		}
		return holder != "" && holder != other, fmt.Sprintf("the holder %q", holder)
	})
	return holder
}
