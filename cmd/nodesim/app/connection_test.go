package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
)

// kubectlFlags are kubectl's own, but for those that are left out here on purpose.
func kubectlFlags() *genericclioptions.ConfigFlags {
	f := genericclioptions.NewConfigFlags(false)
	f.Namespace, f.CacheDir, f.Timeout = nil, nil, nil
	return f
}

// newer are the flags that kubectl has got since the oldest Kubernetes whose libraries this module takes.
var newer = []string{"proxy-url"}

// The flags are kubectl's: names, short forms, defaults and words.
func TestConnectionFlagsAreKubectls(t *testing.T) {
	theirs, ours := pflag.NewFlagSet("kubectl", pflag.ContinueOnError), pflag.NewFlagSet("nodesim", pflag.ContinueOnError)
	kubectlFlags().AddFlags(theirs)
	newConnectionFlags().bind(ours)
	said := func(flags *pflag.FlagSet) (all []string) {
		flags.VisitAll(func(f *pflag.Flag) {
			if slices.Contains(newer, f.Name) && theirs.Lookup(f.Name) == nil {
				return
			}
			all = append(all, fmt.Sprintf("-%s --%s %s %q %s", f.Shorthand, f.Name, f.Value.Type(), f.DefValue, f.Usage))
		})
		return all
	}
	if diff := cmp.Diff(said(theirs), said(ours)); diff != "" {
		t.Errorf("flags (-kubectl +nodesim):\n%s", diff)
	}
	if n := len(said(ours)); n < 16 {
		t.Errorf("%d flags: want the 16 of kubectl 1.36, or more", n)
	}
	for _, name := range newer {
		if ours.Lookup(name) == nil {
			t.Errorf("found no flag --%s: want it, as kubectl has it now", name)
		}
	}
}

const twoClusters = `apiVersion: v1
kind: Config
current-context: one
clusters:
- name: one
  cluster: {server: "https://one.example.com:6443", tls-server-name: first, proxy-url: "http://proxy:1"}
- name: two
  cluster: {server: "https://two.example.com:6443", insecure-skip-tls-verify: true}
users:
- name: alice
  user: {token: a, as: robin, as-user-extra: {where: [here]}}
- name: bob
  user: {username: bob, password: secret}
contexts:
- name: one
  context: {cluster: one, user: alice}
- name: two
  context: {cluster: two, user: bob, namespace: here}
`

// Each flag leads where it leads kubectl.
func TestConnectionFlagsLeadWhereKubectlGoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(twoClusters), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
	t.Setenv("KUBERNETES_MASTER", "")
	for _, args := range [][]string{
		{},
		{"--kubeconfig", path, "--context", "two"},
		{"--cluster", "two"},
		{"--user", "bob"},
		{"-s", "https://three.example.com", "--tls-server-name", "third", "--certificate-authority", "ca.pem"},
		{"--server", "http://localhost:8001", "--disable-compression"},
		{"--server", "http://localhost:8001", "--proxy-url", "socks5://localhost:1"},
		{"--insecure-skip-tls-verify", "--cluster", "two"},
		{"--client-certificate", "me.pem", "--client-key", "me.key", "--token", "t"},
		{"--as", "eve", "--as-uid", "7", "--as-group", "a,b", "--as-group", "c"},
		{"--as", "eve", "--as-user-extra", "k=v", "--as-user-extra", "k=w=x", "--as-user-extra", "nonsense"},
	} {
		theirs, ours := kubectlFlags(), newConnectionFlags()
		their, our := pflag.NewFlagSet("kubectl", pflag.ContinueOnError), pflag.NewFlagSet("nodesim", pflag.ContinueOnError)
		theirs.AddFlags(their)
		ours.bind(our)
		if slices.ContainsFunc(newer, func(name string) bool { return slices.Contains(args, "--"+name) && their.Lookup(name) == nil }) {
			continue // make newest compares it, and TestProxyURL says where it leads
		}
		if err := their.Parse(slices.Clone(args)); err != nil {
			t.Fatal(err)
		}
		if err := our.Parse(slices.Clone(args)); err != nil {
			t.Fatal(err)
		}
		want, wantErr := theirs.ToRESTConfig()
		for range 2 { // asked again, the flags lead to the same
			got, err := ours.loader().ClientConfig()
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%v: error %v: want %v", args, err, wantErr)
			}
			if said(got) != said(want) {
				t.Errorf("%v leads to\n%s: want\n%s", args, said(got), said(want))
			}
		}
	}
}

// The proxy of kubectl's newer flag goes before that of the kubeconfig.
func TestProxyURL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(twoClusters), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newConnectionFlags()
	flags := pflag.NewFlagSet("nodesim", pflag.ContinueOnError)
	f.bind(flags)
	if err := flags.Parse([]string{"--kubeconfig", path, "--proxy-url", "socks5://localhost:1"}); err != nil {
		t.Fatal(err)
	}
	c, err := f.loader().ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := said(c), " socks5://localhost:1"; !strings.HasSuffix(got, want) {
		t.Errorf("--proxy-url leads to\n%s: want%s at its end", got, want)
	}
}

// said is a configuration as text, with what its own String keeps secret.
func said(c *rest.Config) string {
	if c == nil {
		return "none"
	}
	proxy := ""
	if c.Proxy != nil {
		if url, err := c.Proxy(nil); err == nil && url != nil {
			proxy = url.String()
		}
	}
	return fmt.Sprintf("%s %q %q %q %+v %+v %v %v", c.Host, c.Username, c.Password, c.BearerToken, c.Impersonate, c.TLSClientConfig, c.DisableCompression, proxy)
}
