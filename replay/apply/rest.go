package apply

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/nodesim/nodesim/internal/apischeme"
)

// manager is the name under which the API server notes who wrote a field.
const manager = "nodesim-replay"

// live is an API server, reached by a rest.Config. Bodies go in and out as JSON text:
// typed clients would drop the fields that they don't know.
type live struct{ client rest.Interface }

func newLive(config *rest.Config) (*live, error) {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	// client-go's default of five requests a second is slower than most tapes.
	config.QPS, config.RateLimiter = -1, nil
	config.APIPath, config.GroupVersion = "/", &schema.GroupVersion{}
	config.WarningHandler = rest.NoWarnings{} // about what the tape's clients do, who aren't here
	config.NegotiatedSerializer = apischeme.Codecs().WithoutConversion()
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return &live{client}, nil
}

func (l *live) do(ctx context.Context, r request) ([]byte, error) {
	ctx = klog.NewContext(ctx, klog.Logger{}) // what goes wrong is an error, not a line on the user's terminal
	var q *rest.Request
	switch r.verb {
	case Create:
		q = l.client.Verb(http.MethodPost).Param("fieldManager", manager)
	case Patch:
		kind := types.MergePatchType
		if r.strategic {
			kind = types.StrategicMergePatchType
		}
		q = l.client.Patch(kind).Param("fieldManager", manager)
	case Put:
		q = l.client.Verb(http.MethodPut)
	case Delete:
		q = l.client.Verb(http.MethodDelete)
	default:
		q = l.client.Verb(http.MethodGet)
	}
	q = q.AbsPath(r.path())
	for name, values := range r.query {
		for _, v := range values {
			q = q.Param(name, v)
		}
	}
	if r.body != nil {
		q = q.Body(r.body)
		if r.verb != Patch {
			q = q.SetHeader("Content-Type", "application/json")
		}
	}
	// How often something is tried again is for the retrier to say.
	result := q.MaxRetries(0).Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// get asks for what is no resource: /version, /apis/policy/v1.
func (l *live) get(ctx context.Context, path string) ([]byte, error) {
	ctx = klog.NewContext(ctx, klog.Logger{})
	result := l.client.Get().AbsPath(path).MaxRetries(0).Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// host returns how people call the server.
func (l *live) host() string {
	u := l.client.Get().AbsPath("/").URL()
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}

var _ io.Closer = (*live)(nil)

// Close ends the connections that wait for a request.
func (l *live) Close() error {
	if c, ok := l.client.(*rest.RESTClient); ok && c.Client != nil {
		c.Client.CloseIdleConnections()
	}
	return nil
}
