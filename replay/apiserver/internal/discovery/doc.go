// Package discovery tells the clients of a replay which API they talk to: the groups, versions and resources of the
// tape, the server's version, and its health.
//
// In: what the tape holds ([Options].Resources), the definitions of its custom resources where the tape has them, and
// the version of the server that was recorded. Out: an http.Handler for
//
//	/                                    the paths that are served
//	/version                             version.Info
//	/healthz, /livez, /readyz            "ok", or one line a check with ?verbose; each check by its name below
//	/api, /apis                          APIVersions, APIGroupList, or APIGroupDiscoveryList where it is asked for
//	/api/v1, /apis/GROUP/VERSION         APIResourceList
//	/apis/GROUP                          APIGroup
//
// All documents are built once, in [New], and served as JSON, YAML or protobuf as the client asks, with the headers,
// the refusals (404, 405, 406) and the quirks of kube-apiserver: /api/v1 carries no apiVersion, /apis answers any
// method, HEAD of /api/v1 is refused. Where the real server runs k8s.io/apiserver's pkg/endpoints/discovery this
// package has its own few lines, since that one brings gRPC and the metrics of a real server with it.
//
// # What is known of a resource
//
// Kinds, plurals and scopes are the tape's. Short names, categories, singular names, verbs, subresources and the
// storageVersionHash of the built-in resources are those of Kubernetes 1.36, whatever the version of the recorded server:
// discovery.json.gz has them, which go generate writes from the control plane of the tests. A resource in a version that
// 1.36 doesn't serve has those of the newest version, without a hash.
// Those of a custom resource are in its CustomResourceDefinition; without one its singular name is its kind in lower
// case, it has no short names and no categories, and it is taken to have a status, as nearly all have.
//
// # Where it differs from an API server
//
//   - Subresources that a tape has nothing to say to are left out: log, exec, attach, portforward, proxy,
//     ephemeralcontainers, resize, finalize, token, approval. status, scale, binding and eviction stay.
//   - Where writes are refused ([Options].Writes is false), only the verbs that read are listed, and subresources
//     that one can only write to (binding, eviction) are missing. kubectl drain tries to delete pods then, and is
//     told why it can't.
//   - Resources that hold no objects (bindings, tokenreviews) and groups that the tape has nothing of are missing.
//   - Of the server's version only gitVersion, major and minor are known; Go version, compiler and platform tell of
//     the program that replays, and the versions of emulation and compatibility are missing.
//   - The health checks are ping and, for readiness, replay.
//
// The package never looks at the objects of a tape and never answers a request for one.
package discovery
