package inbound

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/nodesim/nodesim/internal/apischeme"
	"github.com/nodesim/nodesim/replay/internal/writes"
)

// MaxBody is the largest body, in bytes (MaxRequestBodyBytes of
// k8s.io/apiserver/pkg/server/config.go).
const MaxBody = 3 << 20

// readBody is limitedReadBody of k8s.io/apiserver/pkg/endpoints/handlers/rest.go.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, MaxBody+1))
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("read the body: %v", err))
	}
	if len(body) > MaxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", MaxBody))
	}
	return body, nil
}

// mediaType returns the media type of the body, JSON where nothing is said, or 415
// with the types that would do.
func mediaType(req *http.Request) (string, error) {
	accepted := []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf}
	sent := req.Header.Get("Content-Type")
	if sent == "" {
		return runtime.ContentTypeJSON, nil
	}
	if media, _, err := mime.ParseMediaType(sent); err == nil {
		for _, a := range accepted {
			if a == media {
				return a, nil
			}
		}
	}
	return "", writes.UnsupportedMediaType(accepted)
}

// toJSON makes JSON of a body. Protobuf carries its kind, so that client-go's
// types can spell it out; of YAML a field that is there twice is lost.
func toJSON(body []byte, media string) ([]byte, error) {
	switch media {
	case runtime.ContentTypeYAML:
		doc, err := yaml.ToJSON(body)
		if err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized: %v", err))
		}
		return doc, nil
	case runtime.ContentTypeProtobuf:
		obj, gvk, err := apischeme.Codecs().UniversalDeserializer().Decode(body, nil, nil)
		if err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized: %v", err))
		}
		obj.GetObjectKind().SetGroupVersionKind(*gvk)
		doc, err := json.Marshal(obj)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return doc, nil
	}
	return body, nil
}

// decodeDeleteOptions reads them from a body, of the version v1 or of that of
// any group, as old clients send them.
func decodeDeleteOptions(body []byte, media string, into *metav1.DeleteOptions) error {
	info, ok := runtime.SerializerInfoForMediaType(internalscheme.Codecs.SupportedMediaTypes(), media)
	if !ok {
		return writes.UnsupportedMediaType([]string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf})
	}
	kind := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	obj, _, err := internalscheme.Codecs.DecoderToVersion(info.Serializer, kind.GroupVersion()).Decode(body, &kind, into)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if obj != runtime.Object(into) {
		return apierrors.NewBadRequest("decoded object cannot be converted to DeleteOptions")
	}
	return nil
}
