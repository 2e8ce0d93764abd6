package app

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	spelling "github.com/nodesim/nodesim/internal/phrase"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// A destination is where kubectl's flags and the kubeconfig lead.
type destination struct {
	rest *rest.Config
	// name is the context, or where there is none the server, by which the user knows
	// the cluster.
	name string
	// cluster is the kubeconfig's; nil where another server was named.
	cluster *api.Cluster
}

// destinationOf finds it, and says what the kubeconfig lacks: client-go goes to
// localhost:8080 where it finds nothing (tools/clientcmd, ClusterDefaults), of which
// no one has thought.
func destinationOf(f *connectionFlags) (destination, error) {
	for _, extra := range f.userExtras {
		if !strings.Contains(extra, "=") {
			return destination{}, usagef("flag --as-user-extra %q: want KEY=VALUE", extra)
		}
	}
	loader := f.loader()
	access := loader.ConfigAccess()
	where := strings.Join(access.GetLoadingPrecedence(), ", ")
	if access.IsExplicitFile() {
		where = access.GetExplicitFile()
	}
	raw, err := loader.RawConfig()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return destination{}, fmt.Errorf("kubeconfig %s: found no such file: want one that is there, such as nodesim cluster up makes", where)
	case err != nil:
		return destination{}, fmt.Errorf("kubeconfig %s: %w: want one that kubectl config view can read", where, err)
	}
	d := destination{name: cmp.Or(f.overrides.CurrentContext, raw.CurrentContext, f.overrides.ClusterInfo.Server)}
	if err := d.look(f, &raw, access.GetLoadingPrecedence()); err != nil {
		return destination{}, fmt.Errorf("kubeconfig %s: %w", where, err)
	}
	if d.rest, err = loader.ClientConfig(); err != nil {
		return destination{}, fmt.Errorf("kubeconfig %s: %w", where, err)
	}
	return d, nil
}

// look finds the cluster in the kubeconfig, and says what isn't there. The files are those that the kubeconfig may be in.
func (d *destination) look(f *connectionFlags, raw *api.Config, files []string) error {
	elsewhere := f.overrides.ClusterInfo.Server != "" || os.Getenv("KUBERNETES_MASTER") != "" // client-go's own way around the kubeconfig
	name := cmp.Or(f.overrides.CurrentContext, raw.CurrentContext)
	context := raw.Contexts[name]
	switch {
	case context == nil && name != "":
		return lacks("context", name, slices.Sorted(maps.Keys(raw.Contexts)), files)
	case context == nil && f.overrides.Context.Cluster == "" && !elsewhere && len(raw.Contexts) > 0:
		return fmt.Errorf("found no current context: want --context %s", strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", or "))
	case context == nil:
		context = &api.Context{}
	}
	user, cluster := cmp.Or(f.overrides.Context.AuthInfo, context.AuthInfo), cmp.Or(f.overrides.Context.Cluster, context.Cluster)
	if user != "" && raw.AuthInfos[user] == nil {
		return lacks("user", user, slices.Sorted(maps.Keys(raw.AuthInfos)), files)
	}
	found := raw.Clusters[cluster]
	switch {
	case elsewhere:
		return nil
	case found != nil:
		d.cluster = found
		return nil
	case cluster != "":
		return lacks("cluster", cluster, slices.Sorted(maps.Keys(raw.Clusters)), files)
	}
	if _, err := rest.InClusterConfig(); err == nil {
		return nil
	}
	return errors.New("found no cluster: want the kubeconfig of one, by --kubeconfig or KUBECONFIG; nodesim cluster up makes one")
}

// lacks is the error of something that is named and isn't in the kubeconfig. It says so where none of the kubeconfig's files is there.
func lacks(what, name string, have, files []string) error {
	if noFile(files) {
		return fmt.Errorf("found no such file, so no %s %q: want a kubeconfig that has it, by --kubeconfig or KUBECONFIG", what, name)
	}
	remedy := "want one that is there"
	switch closest := spelling.Closest(name, have); {
	case closest != "":
		remedy = "did you mean " + closest + "?"
	case len(have) > 0:
		remedy = "want " + strings.Join(have, ", ")
	}
	return fmt.Errorf("found no %s %q: %s", what, name, remedy)
}

// noFile reports whether none of the files is there.
func noFile(files []string) bool {
	return !slices.ContainsFunc(files, func(file string) bool {
		_, err := os.Stat(file)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// connectionFlags are kubectl's flags that say which cluster is meant, with kubectl's names and words, but for those that
// would do nothing here (a namespace, a cache) or harm (a timeout ends watches). They are those of NewConfigFlags
// (k8s.io/cli-runtime, pkg/genericclioptions/config_flags.go), a package that brings kustomize with it; a test holds these
// against it.
type connectionFlags struct {
	kubeconfig string
	overrides  clientcmd.ConfigOverrides
	userExtras []string // each KEY=VALUE
}

func newConnectionFlags() *connectionFlags {
	return &connectionFlags{overrides: clientcmd.ConfigOverrides{ClusterDefaults: clientcmd.ClusterDefaults}}
}

// bind adds the flags to a set of flags.
func (f *connectionFlags) bind(all *pflag.FlagSet) {
	flags := pflag.NewFlagSet("connection", pflag.ContinueOnError)
	defer all.AddFlagSet(flags)
	user, cluster, context := &f.overrides.AuthInfo, &f.overrides.ClusterInfo, &f.overrides.Context
	flags.StringVar(&f.kubeconfig, clientcmd.RecommendedConfigPathFlag, "", "Path to the kubeconfig file to use for CLI requests.")
	for _, flag := range []struct {
		value                  *string
		name, shorthand, usage string
	}{
		{&f.overrides.CurrentContext, clientcmd.FlagContext, "", "The name of the kubeconfig context to use"},
		{&context.Cluster, clientcmd.FlagClusterName, "", "The name of the kubeconfig cluster to use"},
		{&context.AuthInfo, clientcmd.FlagAuthInfoName, "", "The name of the kubeconfig user to use"},
		{&cluster.Server, clientcmd.FlagAPIServer, "s", "The address and port of the Kubernetes API server"},
		{&cluster.TLSServerName, clientcmd.FlagTLSServerName, "", "Server name to use for server certificate validation. If it is not provided, the hostname used to contact the server is used"},
		{&cluster.CertificateAuthority, clientcmd.FlagCAFile, "", "Path to a cert file for the certificate authority"},
		{&cluster.ProxyURL, clientcmd.FlagProxyURL, "", "Proxy URL to use for requests to the API server"},
		{&user.ClientCertificate, clientcmd.FlagCertFile, "", "Path to a client certificate file for TLS"},
		{&user.ClientKey, clientcmd.FlagKeyFile, "", "Path to a client key file for TLS"},
		{&user.Token, clientcmd.FlagBearerToken, "", "Bearer token for authentication to the API server"},
		{&user.Impersonate, clientcmd.FlagImpersonate, "", "Username to impersonate for the operation. User could be a regular user or a service account in a namespace."},
		{&user.ImpersonateUID, clientcmd.FlagImpersonateUID, "", "UID to impersonate for the operation."},
	} {
		flags.StringVarP(flag.value, flag.name, flag.shorthand, "", flag.usage)
	}
	flags.StringArrayVar(&user.ImpersonateGroups, clientcmd.FlagImpersonateGroup, []string{}, "Group to impersonate for the operation, this flag can be repeated to specify multiple groups.")
	flags.StringArrayVar(&f.userExtras, "as-user-extra", []string{}, "User extras to impersonate for the operation, this flag can be repeated to specify multiple values for the same key.")
	flags.BoolVar(&cluster.InsecureSkipTLSVerify, clientcmd.FlagInsecure, false, "If true, the server's certificate will not be checked for validity. This will make your HTTPS connections insecure")
	flags.BoolVar(&cluster.DisableCompression, clientcmd.FlagDisableCompression, false, "If true, opt-out of response compression for all requests to the server")
	section(connectionSection, flags)
}

// loader reads the kubeconfig, or the flags' way around it, each time again.
func (f *connectionFlags) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.DefaultClientConfig = &clientcmd.DefaultClientConfig
	rules.ExplicitPath = f.kubeconfig
	overrides := f.overrides
	for _, extra := range f.userExtras {
		if key, value, ok := strings.Cut(extra, "="); ok {
			if overrides.AuthInfo.ImpersonateUserExtra == nil {
				overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
			}
			overrides.AuthInfo.ImpersonateUserExtra[key] = append(overrides.AuthInfo.ImpersonateUserExtra[key], value)
		}
	}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
}
