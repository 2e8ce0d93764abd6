package imageresolver

import (
	"regexp"
	"strings"
	"sync"
)

// The grammar of references, as github.com/distribution/reference has it (regexp.go, v0.6.0). That package compiles a dozen
// expressions whenever a program starts, which costs half a megabyte; this one is compiled when an image is first read.
const (
	hostLabel = `(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])`
	hostPort  = `(?:` + hostLabel + `(?:\.` + hostLabel + `)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`
	pathPart  = `[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*`
	tagForm   = `[\w][\w.-]{0,127}`
	// What go-digest knows (algorithm.go, v1.0.0).
	digestForm = `sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}`
)

var grammar = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(` + hostPort + `)/(` + pathPart + `(?:/` + pathPart + `)*)(?::(` + tagForm + `))?(?:@(` + digestForm + `))?$`)
})

var bareID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-f0-9]{64}$`) })

// longestPath is RepositoryNameTotalLengthMax of the same package.
const longestPath = 255

// canonical is a reference with nothing left out, as ParseDockerRef of github.com/distribution/reference makes it: with the
// registry, and with the digest or else the tag. It is false for what is no reference.
func canonical(image string) (string, bool) {
	if bareID().MatchString(image) {
		return "", false
	}
	registry, rest := splitRegistry(image)
	m := grammar().FindStringSubmatch(registry + "/" + rest)
	if m == nil || len(m[2]) > longestPath {
		return "", false
	}
	name, tag, digest := m[1]+"/"+m[2], m[3], m[4]
	switch {
	case digest != "":
		return name + "@" + digest, true
	case tag != "":
		return name + ":" + tag, true
	}
	return name + ":latest", true
}

// splitRegistry is splitDockerDomain of the same package: what stands before the first slash is a registry if it is
// localhost, has a dot, a colon or a capital; else the image is Docker Hub's.
func splitRegistry(image string) (registry, rest string) {
	const hub, oldHub = "docker.io", "index.docker.io"
	first, after, found := strings.Cut(image, "/")
	switch {
	case !found:
		return hub, "library/" + image
	case first == oldHub:
		registry, rest = hub, after
	case first == "localhost", strings.ContainsAny(first, ".:"), strings.ToLower(first) != first:
		registry, rest = first, after
	default:
		registry, rest = hub, image
	}
	if registry == hub && !strings.Contains(rest, "/") {
		rest = "library/" + rest
	}
	return registry, rest
}
