//go:build controlplane

package openapi_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/localcluster/assets"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay/apiserver/internal/discovery"
	"github.com/nodesim/nodesim/replay/apiserver/internal/openapi"
	"github.com/nodesim/nodesim/timeline"
)

// kubectl runs the real one with no configuration but the arguments. It caches what it discovers in home.
func kubectl(t *testing.T, home, stdin string, args ...string) (string, error) {
	t.Helper()
	program, err := assets.Find("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "HOME="+home, "KUBECONFIG=")
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

// replayed is a server of discovery and OpenAPI alone.
func replayed(t *testing.T, resources []timeline.Resource, writes bool) string {
	t.Helper()
	about, err := discovery.New(discovery.Options{Resources: resources, Definitions: defined, ServerVersion: "v1.36.3", Writes: writes})
	if err != nil {
		t.Fatal(err)
	}
	schemas := handler(func(o *openapi.Options) { o.Resources, o.Definitions, o.Writes = resources, defined, writes })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if schemas.Serves(r.URL.Path) {
			schemas.ServeHTTP(w, r)
			return
		}
		about.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// kubectl explain prints for a replay what it prints for the real server.
func TestExplainIsTheServers(t *testing.T) {
	config := testcluster.Shared(t).Config()
	home := t.TempDir()
	theirs := filepath.Join(home, "kubeconfig")
	writeKubeconfig(t, theirs, config.Host, config.CAData, config.CertData, config.KeyData)
	ours := replayed(t, append(slices.Clone(tape), customs[:2]...), true)
	for _, asked := range []string{
		"nodes.spec.taints", "node.status.conditions", "no.metadata", "nodes.metadata.creationTimestamp",
		"pods.status.containerStatuses.state", "po.spec.containers.resources.claims", "events", "events.involvedObject",
		"pdb --recursive", "nodes --recursive", "events --recursive",
	} {
		args := append([]string{"explain"}, strings.Fields(asked)...)
		want, err := kubectl(t, home, "", append(args, "--kubeconfig", theirs)...)
		if err != nil {
			t.Fatalf("explain %s of the server: %v\n%s", asked, err, want)
		}
		got, err := kubectl(t, home, "", append(args, "--server", ours)...)
		if err != nil {
			t.Errorf("explain %s: %v\n%s", asked, err, got)
			continue
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("explain %s (-server +replay):\n%s", asked, diff)
		}
	}
}

func writeKubeconfig(t *testing.T, path, host string, ca, cert, key []byte) {
	t.Helper()
	folder := filepath.Dir(path)
	for name, data := range map[string][]byte{"ca": ca, "cert": cert, "key": key} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
"clusters":[{"name":"c","cluster":{"server":"` + host + `","certificate-authority":"ca"}}],
"users":[{"name":"u","user":{"client-certificate":"cert","client-key":"key"}}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// kubectl finds custom resources, their fields, and what it may ask a server to check.
func TestKubectlReadsTheDocuments(t *testing.T) {
	resources := append(slices.Clone(tape), customs[:2]...)
	writes, reads := replayed(t, resources, true), replayed(t, resources, false)
	const typo = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"nodeNam":"b","containers":[{"name":"c"}]}}`
	const claim = `{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"name":"a"},"spec":{"nodeClassRef":{}}}`
	for _, c := range []struct {
		what, stdin, server string
		args                []string
		want                string
		fails               bool
	}{
		{what: "a defined kind", server: writes, args: []string{"explain", "nodeclaims.spec.nodeClassRef"}, want: "KIND:       NodeClaim\nVERSION:    v1\n\nFIELD: nodeClassRef <string>"},
		{what: "a kind without definition", server: writes, args: []string{"explain", "widgets"}, want: "metadata\t<ObjectMeta>"},
		{what: "a field that isn't there", server: writes, args: []string{"explain", "nodes.spec.x"}, want: `field "x" does not exist`, fails: true},
		{what: "resources", server: writes, args: []string{"api-resources", "--api-group", "policy", "-o", "wide", "--no-headers"}, want: "create,delete,deletecollection,get,list,patch,update,watch"},
		{what: "resources that refuse writes", server: reads, args: []string{"api-resources", "--api-group", "policy", "-o", "wide", "--no-headers"}, want: "  get,list,watch"},
		{what: "the version", server: writes, args: []string{"version"}, want: "Server Version: v1.36.3"},
		// Without a PATCH that takes fieldValidation kubectl checks by the schemas of v2 itself.
		{what: "an unknown field", server: reads, args: []string{"create", "--dry-run=client", "--validate=strict", "-f", "-"}, stdin: typo, want: `unknown field "nodeNam" in io.k8s.api.core.v1.PodSpec`, fails: true},
		{what: "a field of another type", server: reads, args: []string{"create", "--dry-run=client", "--validate=strict", "-f", "-"}, stdin: claim, want: `invalid type for sh.karpenter.v1.NodeClaim.spec.nodeClassRef: got "map", expected "string"`, fails: true},
		// With one it leaves the check to the server.
		{what: "an unknown field where the server checks", server: writes, args: []string{"create", "--dry-run=client", "--validate=strict", "-f", "-"}, stdin: typo, want: "pod/a created (dry run)"},
	} {
		out, err := kubectl(t, t.TempDir(), c.stdin, append(c.args, "--server", c.server)...)
		if (err != nil) != c.fails || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v, %s\nwant %q", c.what, err, out, c.want)
		}
	}
}
