// Package openapi describes the API of a replay in OpenAPI v2 and v3, as kube-apiserver describes its own, so that
// kubectl explains, validates, applies and asks whether a dry run can be had.
//
// In: what the tape holds, the definitions of its custom resources where the tape has them. Out: an http.Handler for
// /openapi/v2, /openapi/v3 (the index with hashes), /openapi/v3/api/v1 and /openapi/v3/apis/GROUP/VERSION, in JSON and
// protobuf, with ETags. Documents are k8s.io/kube-openapi's; what this package adds is where schemas and
// paths come from. Nothing is read before the first request.
//
// # Where schemas and paths come from
//
// Those of built-in kinds are in openapi.json.gz: the documents of kube-apiserver 1.36 with all its APIs, each schema
// once in v3's form, from which v2's follows, and each path in v2's form, which k8s.io/kube-openapi converts. go generate
// writes the file from the control plane of the tests; a test that runs with one says when it is stale.
//
// A custom kind has the schema of its CustomResourceDefinition; without one it may have any fields. Its paths and its
// list are those of two custom resources that the server had when the documents were captured, under other names.
//
// # Where it differs from an API server
//
//   - The kinds are those of 1.36, whichever server was recorded. A kind in a version that 1.36 doesn't serve, such as
//     policy/v1beta1, is described like its newest version.
//   - Only resources of the tape and their subresources have paths. The deprecated /watch/ paths are missing.
package openapi
