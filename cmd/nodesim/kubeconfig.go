package main

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
	"k8s.io/client-go/rest"
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
	if err := d.look(f, &raw); err != nil {
		return destination{}, fmt.Errorf("kubeconfig %s: %w", where, err)
	}
	if d.rest, err = loader.ClientConfig(); err != nil {
		return destination{}, fmt.Errorf("kubeconfig %s: %w", where, err)
	}
	return d, nil
}

// look finds the cluster in the kubeconfig, and says what isn't there.
func (d *destination) look(f *connectionFlags, raw *api.Config) error {
	elsewhere := f.overrides.ClusterInfo.Server != "" || os.Getenv("KUBERNETES_MASTER") != "" // client-go's own way around the kubeconfig
	name := cmp.Or(f.overrides.CurrentContext, raw.CurrentContext)
	context := raw.Contexts[name]
	switch {
	case context == nil && name != "":
		return lacks("context", name, slices.Sorted(maps.Keys(raw.Contexts)))
	case context == nil && f.overrides.Context.Cluster == "" && !elsewhere && len(raw.Contexts) > 0:
		return fmt.Errorf("found no current context: want --context %s", strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", or "))
	case context == nil:
		context = &api.Context{}
	}
	user, cluster := cmp.Or(f.overrides.Context.AuthInfo, context.AuthInfo), cmp.Or(f.overrides.Context.Cluster, context.Cluster)
	if user != "" && raw.AuthInfos[user] == nil {
		return lacks("user", user, slices.Sorted(maps.Keys(raw.AuthInfos)))
	}
	found := raw.Clusters[cluster]
	switch {
	case elsewhere:
		return nil
	case found != nil:
		d.cluster = found
		return nil
	case cluster != "":
		return lacks("cluster", cluster, slices.Sorted(maps.Keys(raw.Clusters)))
	}
	if _, err := rest.InClusterConfig(); err == nil {
		return nil
	}
	return errors.New("found no cluster: want the kubeconfig of one, by --kubeconfig or KUBECONFIG; nodesim cluster up makes one")
}

// lacks is the error of something that the kubeconfig names and doesn't have.
func lacks(what, name string, have []string) error {
	remedy := "want one that is there"
	switch closest := spelling.Closest(name, have); {
	case closest != "":
		remedy = "did you mean " + closest + "?"
	case len(have) > 0:
		remedy = "want " + strings.Join(have, ", ")
	}
	return fmt.Errorf("found no %s %q: %s", what, name, remedy)
}
