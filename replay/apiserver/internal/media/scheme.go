package media

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/nodesim/nodesim/internal/apischeme"
	"github.com/nodesim/nodesim/timeline"
)

func types() *runtime.Scheme { return apischeme.Scheme() }

// codecs returns what a negotiation chooses from: JSON, YAML and protobuf.
func codecs() serializer.CodecFactory { return apischeme.Codecs() }

// inScheme reports whether there is a Go type for the resource's kind, and with it
// protobuf.
func inScheme(r timeline.Resource) bool { return types().Recognizes(kindOf(r)) }

func kindOf(r timeline.Resource) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}
