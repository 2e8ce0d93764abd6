package writes

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/timeline"
)

// Refuse is the answer to what a cluster doesn't do: 405, and a sentence that
// says that this is a replay, or a cluster that is simulated, why it is refused,
// and so what would help. The verb may have a subresource after it.
func Refuse(h *timeline.Header, simulated bool, verb string, gr schema.GroupResource, why string) error {
	what := fmt.Sprintf("a replay of tape %q", h.Metadata.Name)
	if simulated {
		what = fmt.Sprintf("the simulated cluster %q", h.Metadata.Name)
	}
	err := apierrors.NewMethodNotSupported(gr, verb)
	err.ErrStatus.Message = fmt.Sprintf("%s of %s is not allowed: this is %s: %s", verb, gr, what, why)
	err.ErrStatus.Code = http.StatusMethodNotAllowed
	return err
}
