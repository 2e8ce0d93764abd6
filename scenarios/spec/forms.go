package spec

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
)

// A form is the syntax of a text.
type form struct {
	wanted string
	fits   func(text string) bool
}

// versions of Kubernetes that a cluster may have.
const oldestMinor, newestMinor = 27, 36

func minorVersions() []string {
	var all []string
	for m := oldestMinor; m <= newestMinor; m++ {
		all = append(all, "1."+strconv.Itoa(m))
	}
	return all
}

var (
	placeForm     = lazily(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	imageForm     = lazily(`^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$`)
	versionForm   = lazily(`^v1\.([0-9]{1,3})\.[0-9]{1,4}([-+][A-Za-z0-9][A-Za-z0-9.+-]{0,62})?$`)
	machineForm   = lazily(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	parameterForm = lazily(`^[a-z][A-Za-z0-9]{0,62}$`)
)

func isSubdomain(s string) bool { return len(validation.IsDNS1123Subdomain(s)) == 0 }

// forms are known by the tag "form" of a field. Names are judged by what
// Kubernetes itself takes (k8s.io/apimachinery/pkg/util/validation).
var forms = map[string]form{
	"apiVersion": {APIVersion, func(s string) bool { return s == APIVersion }},
	"kind":       {FileKind, func(s string) bool { return s == FileKind }},
	"label": {
		"a DNS-1123 label: small letters, digits and -, at most 63",
		func(s string) bool { return len(validation.IsDNS1123Label(s)) == 0 },
	},
	"node": {
		"the name of a node, such as ip-10-0-1-10",
		isSubdomain,
	},
	"pod": {
		"the name of a pod, such as web-0",
		isSubdomain,
	},
	"workload": {
		"the name of a workload, web or shop/web",
		func(s string) bool {
			namespace, name, qualified := strings.Cut(s, "/")
			if !qualified {
				name = namespace
			}
			return len(validation.IsDNS1123Label(namespace)) == 0 && len(validation.IsDNS1123Label(name)) == 0
		},
	},
	"key": {
		"a key such as example.com/team or team",
		func(s string) bool { return len(validation.IsQualifiedName(s)) == 0 },
	},
	"value": {
		"letters, digits, -, _ and ., at most 63",
		func(s string) bool { return len(validation.IsValidLabelValue(s)) == 0 },
	},
	"finalizer": {
		"a finalizer such as example.com/hold",
		func(s string) bool { return strings.Contains(s, "/") && len(validation.IsQualifiedName(s)) == 0 },
	},
	"minor":        {`"1.27" to "1.36"`, func(s string) bool { return slices.Contains(minorVersions(), s) }},
	"place":        {"a region or zone: small letters, digits and -", placeForm.MatchString},
	"image":        {"an image such as registry.example/web:1.4.2 or ami-0a1b2c3d4e5f60718", imageForm.MatchString},
	"version":      {"a version such as v1.34.2-eks-ecaa3a6", versionForm.MatchString},
	"instanceType": {"an instance type such as m5.large", machineForm.MatchString},
	"parameter":    {"letters and digits, a small letter first, at most 63", parameterForm.MatchString},
	"line":         {"one line of at most 300 printable characters", isLine},
	"":             {"text of at most 20000 printable characters", isProse},
}

func isLine(s string) bool {
	return s != "" && utf8.RuneCountInString(s) <= 300 && strings.IndexFunc(s, notPrintable) < 0
}

func isProse(s string) bool {
	return utf8.RuneCountInString(s) <= 20000 &&
		strings.IndexFunc(s, func(r rune) bool { return r != '\n' && r != '\t' && notPrintable(r) }) < 0
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }

// form checks the form of a text.
func (d *decoder) form(n *node, path, name string) *Error {
	f, ok := forms[name]
	if !ok || f.fits(n.text) {
		return nil
	}
	return d.at(n, path, n.String(), f.wanted)
}

// A pattern is a regular expression that is compiled when it is first used. Compiled at the program's start, those of this
// package took half a megabyte and five milliseconds of every verb. Safe for concurrent use.
type pattern func() *regexp.Regexp

func lazily(expression string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// MatchString reports whether the text holds a match.
func (p pattern) MatchString(text string) bool { return p().MatchString(text) }
