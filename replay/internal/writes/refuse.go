package writes

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Refuse is the answer to what a replay doesn't do: 405, and a sentence that
// says that this is a replay, why it is refused, and so what would help. The
// verb may have a subresource after it.
func Refuse(tape, verb string, gr schema.GroupResource, why string) error {
	return refuse(fmt.Sprintf("a replay of tape %q", tape), verb, gr, why)
}

// RefuseIn is [Refuse] of a cluster that is simulated.
func RefuseIn(cluster, verb string, gr schema.GroupResource, why string) error {
	return refuse(fmt.Sprintf("the simulated cluster %q", cluster), verb, gr, why)
}

func refuse(what, verb string, gr schema.GroupResource, why string) error {
	err := apierrors.NewMethodNotSupported(gr, verb)
	err.ErrStatus.Message = fmt.Sprintf("%s of %s is not allowed: this is %s: %s", verb, gr, what, why)
	err.ErrStatus.Code = http.StatusMethodNotAllowed
	return err
}
