package imageresolver

import (
	"strings"
	"testing"

	"github.com/distribution/reference"
)

// FuzzCanonical compares canonical with the package whose grammar it has.
func FuzzCanonical(f *testing.F) {
	const d = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	for _, image := range []string{
		"", "nginx", "nginx:1", "nginx:1@" + d, "nginx@" + d, "nginx@sha256:11", "nginx@sha384:" + strings.Repeat("0", 96),
		"nginx@sha512:" + strings.Repeat("a", 128), "nginx@sha256:" + strings.Repeat("A", 64), "nginx@md5:" + strings.Repeat("a", 32),
		"nginx@sha256:" + strings.Repeat("a", 63), "nginx@" + d + "0",
		"docker.io/nginx", "index.docker.io/nginx", "index.docker.io/a/b", "library/nginx", "a/b", "a/b/c:t",
		"localhost/a", "localhost:5000/a:b", "Host/a", "host.example:80/a", "[::1]:5000/a", "[::1]/a", "host./a", ".host/a", "-h.x/a",
		"Nginx", "a/B", "registry.example/B", "a__b", "a___b", "a--b", "a-", "a//b", "/a", "a/", "a:", "a:-", "a:" + strings.Repeat("t", 128),
		"a:" + strings.Repeat("t", 129), d[7:], "x/" + d[7:], strings.Repeat("a", 247), strings.Repeat("a", 248), "x.y/" + strings.Repeat("a", 256),
		"!!", "a\nb", "a\n", "é", "a@b", "a:b@c", "x.y:/a", "x.y:z/a",
	} {
		f.Add(image)
	}
	f.Fuzz(func(t *testing.T, image string) {
		want := ""
		named, err := reference.ParseDockerRef(image)
		if err == nil {
			want = named.String()
		}
		if got, ok := canonical(image); got != want || ok != (err == nil) {
			t.Errorf("%q: found %q, %v: want %q, %v", image, got, ok, want, err)
		}
	})
}
