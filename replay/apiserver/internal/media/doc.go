// Package media encodes a replay's objects as kube-apiserver does: the bytes
// of a get, of a list, of a frame of a watch, of an error.
//
// # What goes in, what comes out
//
// A request says which Form it wants: an encoding (JSON, YAML, protobuf) of a
// representation (the object, a Table, a PartialObjectMetadata). [Negotiate]
// reads it from the request by k8s.io/apiserver's own negotiation, and refuses
// with its 406. A [Maker], one for each resource, makes answers in a Form of the
// replay's objects, lists and events; [Compress] writes a long one as gzip.
//
// JSON is the tape's text, untouched: what the tape holds and a Go type doesn't
// know stays. The kind is where a server writes it: at objects and in
// frames, at the items of custom resources, not at the items of built-in ones.
// Metadata and Tables are cut out of the text, too. Protobuf is made of it by the
// tags of client-go's types, or, where a value is unusual, of a decoded object; so
// what those types don't know is lost there, as it would be on a server of that version. YAML and pretty JSON are made of the
// JSON by the server's own serializers.
//
// # What is shared
//
// A frame of a watch is made once and shared by all watchers of a Form
// ([replay.Object.Memo]), as the server's watch cache does
// (k8s.io/apiserver/pkg/storage/cacher/caching_object.go); so are the protobuf
// form of an object and, with Options.Shift, its shifted text. A frame of a Table
// tells ages: it is shared for one second of the clock, which is as fine as an
// age is told. What is shared lives as long as its object does, so a resource
// that is watched takes about twice the memory of its objects' text.
//
// # Where it differs from an API server
//
//   - Kinds that apischeme doesn't hold (custom resources, but also APIService)
//     have no protobuf: 406, or the next media type that the client accepts; and
//     their bookmarks lack the members that a Go type always writes. A server
//     does so for custom resources only.
//   - A shifted object keeps the times that it was first shown with.
//   - In a Table, the row of a bookmark may show defaults where the server's
//     cells are empty; and FlowSchemas are in the order of their names.
//   - A message that names a Go type (a list asked for as one object) guesses
//     the server's internal type by the group.
//
// # What it never does
//
// It starts no goroutine, and writes no header but those of compression. It
// doesn't panic, whatever the bytes of an object are: what isn't JSON becomes an
// error, or an answer that isn't JSON either.
package media
