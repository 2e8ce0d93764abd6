package conformance

// What of kube-apiserver no replay has. A row names the requests, the differences, and why they may stay.
const (
	always    = `.*`
	written   = `\[(create|update|patch|delete|deletecollection)\]`
	openapi   = `[A-Z]+ /openapi/.*`
	jsonOnly  = `GET /apis/((apiregistration|apiextensions)\.k8s\.io/|admissionregistration\.k8s\.io/v1/mutatingadmissionpolic).*vnd\.kubernetes\.protobuf.*`
	strangers = `GET .* without credentials`
)

// Known holds what differs, and why. It is held to be complete and needed: a difference that no row covers is an
// error, and so is a row that covers none.
var Known = []Excepted{
	// What a tape doesn't hold.
	{always, `body(\.items\[.*\]\.versions\[.*\])?\.resources\[.*\](\.subresources\[.*\])?\.verbs` + written + `: .*, got nothing`,
		"a replay that refuses writes doesn't offer them"},
	{always, `body(\.items\[.*\]\.versions\[.*\])?\.resources\[.*\]: .*, got nothing`,
		"resources without objects (bindings, reviews), Secrets and subresources for writers aren't on a tape"},
	{always, `body\.items\[.*\]\.versions\[.*\]\.resources\[.*\]\.subresources(\[.*\])?: .*, got nothing`,
		"subresources for writers, and those that a kubelet serves, aren't on a tape"},
	{always, `body(\.(groups|items|versions)\[.*\])?\.(groups|items|versions)\[.*\]: .*, got nothing|body\.(groups|items|versions)\[.*\]: .*, got nothing`,
		"a tape holds one version of each resource, and no groups without objects"},
	{`[A-Z]+ /`, `body\.paths\[.*\]: .*, got nothing`, "groups that aren't on the tape, metrics, logs and single health checks have no path"},
	{`GET /(healthz|livez|readyz)\?verbose.*`, `body: .*`, "there is one check: a replay has no etcd and no hooks"},
	{`GET /index\.html`, `status: want 200 OK, got 404.*`, "another name for /, made for browsers of long ago"},
	{`GET /api/v1/componentstatuses`, `status: want 200 OK, got 404.*`, "it isn't on the tape: it can't be watched"},
	{`GET .*\?(.*&)?resourceVersion=(1|007)(&.*)?`, `status: want 200 OK, got 410.*`, "a tape begins with its first list; what was before is gone"},
	{`GET .*/pods/[^/]*/log`, `status: want 500 .*, got 405.*`, "there is no kubelet to ask"},
	{`GET /api/v1/nodes/none/proxy`, `status: want 404 .*, got 405.*`, "there is no node to ask"},
	{`GET /version/?( .*)?`, `body\.gitCommit: .*`, "the tape says the version of its server, and not of which commit it was built"},
	{`GET /version/?( .*)?`, `body\.(emulation|minCompatibility)(Major|Minor): .*, got nothing`, "the tape says the version of its server, and not which it emulates"},
	{`GET /api/v1/.*configmaps.*`, `body(\.items\[.*\])?\.data\.client-ca-file: .*, got "redacted\\n"`, "PEM blocks are masked on every tape, certificates too"},
	{`GET /api/?( .*)?`, `body\.serverAddressByClientCIDRs\[\]\.serverAddress: .*`, "two servers have two addresses"},

	// OpenAPI.
	{openapi, `body\.(definitions|paths|components)\[.*\]: .*, got nothing`, "paths and kinds for writers, or not on the tape, have no schema here"},
	{openapi, `body\.parameters: .*, got nothing`, "a replay's document repeats a parameter where it is used"},
	{`GET /openapi/v3/(apis(/[a-z.0-9]+)?|version)`, `status: want 200 OK, got 404 .*`, "discovery itself has no document here"},
	{`GET /openapi/v3/apis/ops\.example\.com/v1`, `body\.(info\.(title|version)|components\[securitySchemes\]): .*`,
		"kube-apiserver has one builder for its own kinds and another for custom ones"},
	{`[A-Z]+ /openapi/v3( .*)?`, `(header (Content-Type|Etag)|body): .*`, "kube-apiserver calls this JSON plain text, and has no tag for it"},
	{openapi + `openapi\.spec\.v[23].*`, `body: .*`, "documents in protobuf are compared as JSON"},

	// Mistakes that kube-apiserver takes for its own.
	{`GET .*resourceVersion=(a|-1)(&.*)?`, `status: want 500 .*Invalid value.*, got 400 .*Invalid value.*`, "a client's mistake is answered with 400, as in lists, and not with 500"},
	{`GET /api/v1/watch/?`, `status: want 500 .*, got 404 .*`, "a path without a resource is a client's mistake"},

	// Forms.
	{jsonOnly, `(header Content-Type|body\..*): .*`, "the Go types of two groups aren't in client-go, those of a kind of 1.36 not in that of 1.35: JSON is the client's second choice"},
	{`GET .*as=Table.*`, `body\.rows: want <nil>, got \[0\]`, "an empty table has an empty list of rows, whatever its kind"},
	{`GET .*/flowschemas Accept: .*as=Table.*`, `body\.rows\[\]\..*`, "rows come in the order of the list, and not in that of precedence"},
	{`GET .*sendInitialEvents=true.*`, `body(\[\])?\.object\.(spec\.replicas|rows\[\]\.cells\[\]): .*`,
		"the bookmark after the initial events is an object that no client reads: its fields aren't defaulted"},

	// Users and permissions.
	{strangers, `status: want (200|403) .*, got 401.*`, "there is no anonymous user: a client without a token sees nothing, not even the version"},
}
