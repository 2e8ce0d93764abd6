package media

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/nodesim/nodesim/timeline"
)

// builtIn holds the kinds that client-go has Go types of. It isn't client-go's
// own scheme: programs add their custom resources to that, and a server serves
// those as custom resources all the same.
var builtIn = sync.OnceValues(func() (*runtime.Scheme, serializer.CodecFactory) {
	s := runtime.NewScheme()
	utilruntime.Must(scheme.AddToScheme(s))
	return s, serializer.NewCodecFactory(s)
})

func types() *runtime.Scheme {
	s, _ := builtIn()
	return s
}

// codecs returns what a negotiation chooses from: JSON, YAML and protobuf.
func codecs() serializer.CodecFactory {
	_, c := builtIn()
	return c
}

// inScheme reports whether client-go has a Go type for the resource's kind, and
// with it protobuf.
func inScheme(r timeline.Resource) bool { return types().Recognizes(kindOf(r)) }

func kindOf(r timeline.Resource) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}
