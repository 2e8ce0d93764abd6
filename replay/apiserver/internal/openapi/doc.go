// Package openapi describes the API of a replay in OpenAPI v2 and v3, as kube-apiserver describes its own, so that
// kubectl explains, validates, applies and asks whether a dry run can be had.
//
// In: what the tape holds, the definitions of its custom resources where the tape has them. Out: an http.Handler for
// /openapi/v2, /openapi/v3 (the index with hashes), /openapi/v3/api/v1 and /openapi/v3/apis/GROUP/VERSION, in JSON and
// protobuf, with ETags. Documents and answers are k8s.io/kube-openapi's; what this package adds is where schemas and
// paths come from. Nothing is built before the first request.
//
// # Where schemas come from
//
// A built-in kind is a Go type of k8s.io/api: properties, types and references are read by reflection, in the way in
// which openapi-gen reads the source (k8s.io/kube-openapi, pkg/generators); descriptions are the types' SwaggerDoc,
// names their OpenAPIModelName, patch strategies and merge keys struct tags. What only comments say in the
// source comes from the schema that client-go has for server-side apply: list types, their keys, defaults; or from
// tables here: enums, and what is required against the rule.
//
// A custom kind has the schema of its CustomResourceDefinition; without one it may have any fields.
//
// # Where it differs from an API server
//
//   - The descriptions of Quantity and RawExtension are their first sentences.
//   - Enums are in a table too (enums), by Go type. The paragraph "Possible enum values" of a description is missing.
//   - The types are those of the k8s.io/api that this program was built with, which may be newer than the server that
//     was recorded.
//   - Only resources of the tape and their subresources have paths. The deprecated /watch/ paths are missing.
//   - Unions (x-kubernetes-unions) are missing from built-in kinds.
//   - CustomResourceDefinition and APIService, whose Go types are elsewhere, are described as custom kinds without a
//     definition.
package openapi
