package assets

import (
	"bytes"
	"strings"
	"testing"
)

// What is published for a version of the table is the table.
func TestWhatIsPublishedIsTheTable(t *testing.T) {
	all, err := Releases()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	var want []string
	for i, r := range all {
		if r.Version != KubernetesVersion {
			continue
		}
		path := strings.TrimPrefix(r.URL, "https://") + ".sha256"
		files["/"+path] = []byte(strings.TrimPrefix(string(r.Sum), "sha256:") + []string{"", "\n", "  " + r.Program + "\n"}[i%3])
		want = append(want, r.Row())
	}
	t.Setenv(MirrorVariable, keep(t, files).URL)
	var log bytes.Buffer
	got, err := Published(t.Context(), &log, "", KubernetesVersion)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range got {
		rows = append(rows, r.Row())
	}
	if strings.Join(rows, "\n") != strings.Join(want, "\n") {
		t.Errorf("found the rows\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	if n := strings.Count(log.String(), ": not released\n"); n != 6 {
		t.Errorf("found the log %q, want the six programs that macOS lacks", log.String())
	}
}

func TestPublishedChecksumsOfEtcd(t *testing.T) {
	digest := strings.Repeat("0a", 32)
	t.Setenv(MirrorVariable, keep(t, map[string][]byte{"/github.com/etcd-io/etcd/releases/download/v3.9.9/SHA256SUMS": []byte(
		digest + "  etcd-v3.9.9-darwin-arm64.zip\n" + digest + " *etcd-v3.9.9-linux-amd64.tar.gz\nnothing\n"),
	}).URL)
	var log bytes.Buffer
	got, err := Published(t.Context(), &log, "3.9.9")
	if err != nil || len(got) != 2 || strings.Count(log.String(), "not released") != 2 {
		t.Fatalf("found %v, %v and the log %q, want two rows, and two that aren't released", got, err, log.String())
	}
	want := "etcd\t3.9.9\tdarwin/arm64\tsha256:" + digest + "\thttps://github.com/etcd-io/etcd/releases/download/v3.9.9/etcd-v3.9.9-darwin-arm64.zip\tetcd-v3.9.9-darwin-arm64/etcd"
	if row := got[0].Row(); row != want {
		t.Errorf("found %q, want %q", row, want)
	}
	if member := got[1].Member; member != "etcd-v3.9.9-linux-amd64/etcd" {
		t.Errorf("found %q in the archive for Linux", member)
	}
}

func TestWhatIsPublishedIsRefused(t *testing.T) {
	const address = "/dl.k8s.io/release/v1.36.3/bin/darwin/amd64/kubectl.sha256"
	other := strings.Repeat("0a", 32)
	for name, c := range map[string]struct {
		files         map[string][]byte
		mirror        string
		etcd, version string
		want          string
	}{
		"another checksum":   {files: map[string][]byte{address: []byte(other)}, version: "1.36.3", want: "found sha256:" + other + " published, and sha256:158b3b46cf74"},
		"no checksum":        {files: map[string][]byte{address: []byte("<html>")}, version: "1.36.3", want: "want 64 small hexadecimal digits"},
		"no sums of etcd":    {etcd: "3.9.9", want: "SHA256SUMS: found 404 Not Found"},
		"a path":             {version: "../1.36.3", want: `version "../1.36.3" of Kubernetes: want one such as 1.36.3`},
		"another path":       {etcd: "3/6", want: `version "3/6" of etcd: want one such as 3.6.8`},
		"no network allowed": {mirror: "off", version: "1.36.3", want: "checksums come from the network"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.mirror == "" {
				c.mirror = strings.Replace(keep(t, c.files).URL, "http://", "http://u:s3cret@", 1)
			}
			t.Setenv(MirrorVariable, c.mirror)
			var versions []string
			if c.version != "" {
				versions = []string{c.version}
			}
			_, err := Published(t.Context(), &bytes.Buffer{}, c.etcd, versions...)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("found %v, want one line with %q, and no password", err, c.want)
			}
		})
	}
}
