package assets

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Each version of Kubernetes has all its programs for Linux in the table, and kubectl for macOS; etcd has every platform.
// No row is there twice, each address holds its version, and each program is one that is made here.
func TestTheTableOfReleases(t *testing.T) {
	all, err := Releases()
	if err != nil {
		t.Fatal(err)
	}
	var found, want []string
	for _, r := range all {
		found = append(found, r.Program+" "+r.Version+" "+r.Platform)
		at, err := url.Parse(r.URL)
		if err != nil || at.Scheme != "https" || at.Host == "dl.k8s.io" && at.Path != "/release/v"+r.Version+"/bin/"+r.Platform+"/"+r.Program {
			t.Errorf("%s: found the address %s, %v", r.Program, r.URL, err)
		}
		if !strings.Contains(r.URL, strings.ReplaceAll(r.Platform, "/", "-")) && !strings.Contains(r.URL, r.Platform) {
			t.Errorf("%s: found the address %s, want one of %s", r.Program, r.URL, r.Platform)
		}
		if !strings.Contains(released, "\n"+r.Row()+"\n") {
			t.Errorf("found no row %q", r.Row())
		}
	}
	for _, platform := range []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64"} {
		want = append(want, "etcd "+EtcdVersion+" "+platform)
		for _, v := range KubernetesVersions() {
			want = append(want, "kubectl "+v+" "+platform)
			if strings.HasPrefix(platform, "linux") {
				for _, program := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
					want = append(want, program+" "+v+" "+platform)
				}
			}
		}
	}
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		t.Errorf("found the rows\n%s\nwant\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheMirrorOfTheEnvironment(t *testing.T) {
	r := Release{URL: "https://dl.k8s.io/release/v1/kubectl"}
	for text, want := range map[string]string{
		"": r.URL, "https://mirror.example.com/k8s/": "https://mirror.example.com/k8s/dl.k8s.io/release/v1/kubectl",
		"http://127.0.0.1:8080": "http://127.0.0.1:8080/dl.k8s.io/release/v1/kubectl", "https://m/?token=s3cret": "https://m/dl.k8s.io/release/v1/kubectl?token=s3cret",
	} {
		t.Setenv(MirrorVariable, text)
		base, off, err := mirror()
		if err != nil || off {
			t.Fatalf("%q: found %v, %v, want a mirror", text, off, err)
		}
		if got, err := r.from(base); got != want || err != nil {
			t.Errorf("%q: found %s, %v, want %s", text, got, err, want)
		}
	}
	t.Setenv(MirrorVariable, "off")
	if s, err := openSource(false); s != nil || err != nil {
		t.Errorf("off: found %v, %v, want no source", s, err)
	}
	for text, shown := range map[string]string{
		"on": "on", "ftp://mirror.example.com": "ftp://mirror.example.com", "https://": "https://", "mirror.example.com": "mirror.example.com",
		"ftp://u:s3cret@x": "ftp://xxxxx@x", "ci:s3cret@mirror": "xxxxx@mirror", "mirror.example.com/?token=s3cret": "mirror.example.com/?token=xxxxx",
	} {
		t.Setenv(MirrorVariable, text)
		want := "environment variable NODESIM_MIRROR=" + strconv.Quote(shown) + ": want off, or the address of a mirror"
		if _, err := (Supply{}).open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: found %v, want that it is no mirror", text, err)
		}
	}
}
