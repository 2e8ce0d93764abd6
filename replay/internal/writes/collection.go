package writes

import (
	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// deleteCollection deletes what a selector finds, and is answered with the list
// of it, as it was found.
func (w *write) deleteCollection() (Answer, error) {
	if !w.kind.onTape {
		return status(http.StatusOK, metav1.Status{Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{Kind: w.kind.Kind}})
	}
	l, err := w.handler.cluster.ListUnfaulted(w.Resource, w.Namespace, w.Selector)
	if err != nil {
		return Answer{}, err
	}
	items := make([]json.RawMessage, len(l.Items))
	for i, o := range l.Items {
		items[i] = o.Raw()
		if w.kind.builtIn { // the list names the kind
			items[i] = rawjson.Apply(nil, o.Raw(), []byte(`{"kind":null,"apiVersion":null}`))
		}
		newest := l.ResourceVersion
		if w.keeps() {
			newest = o.ResourceVersion()
		}
		one, err := w.kind.parse(o, newest)
		if err != nil {
			return Answer{}, err
		}
		if _, err := w.finish(one, w.Delete); err != nil {
			return Answer{}, err
		}
	}
	raw, err := json.Marshal(list{
		TypeMeta: metav1.TypeMeta{Kind: w.kind.Kind + "List", APIVersion: w.kind.APIVersion()},
		ListMeta: metav1.ListMeta{ResourceVersion: l.ResourceVersion, Continue: l.Continue, RemainingItemCount: l.Remaining},
		Items:    items,
	})
	return Answer{Code: http.StatusOK, Object: raw}, err
}

type list struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []json.RawMessage `json:"items"`
}
