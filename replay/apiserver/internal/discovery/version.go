package discovery

import (
	"runtime"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	apiversion "k8s.io/apimachinery/pkg/version"
)

// defaultVersion is the server of a tape that doesn't say which it was recorded from: the one whose built-in
// resources this package knows.
const defaultVersion = "v1.36.0"

// serverVersion returns what /version tells of a server, and its minor version as a number. Where the version is
// missing or
// isn't one, it is defaultVersion.
//
// Commit and build date of the recorded server are not on a tape; they are those of a Go build without them
// (k8s.io/component-base, version/base.go). Go version, compiler and platform are those of this program.
func serverVersion(recorded string) (info apiversion.Info, minor int) {
	v, err := version.ParseGeneric(recorded)
	if err != nil {
		recorded = defaultVersion
		v = version.MustParseGeneric(recorded)
	}
	minor = int(v.Minor())
	info = apiversion.Info{
		Major: strconv.Itoa(int(v.Major())), Minor: strconv.Itoa(minor),
		GitVersion: recorded, BuildDate: "1970-01-01T00:00:00Z",
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if release, _, _ := strings.Cut(recorded, "+"); strings.Contains(release, "-") {
		info.Minor += "+" // v1.33.4-eks-1a2b3c: a build of someone else's (kubernetes, hack/lib/version.sh)
	}
	return info, minor
}
