package clusterapi

import (
	"fmt"
	"net/http"
	"sync/atomic"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

var schemes atomic.Int32

// kubeconfig leads clients to where a rest.Config does. A kubeconfig can't name a transport. So a cluster in memory gets a scheme of
// its own, which net/http's default transport hands to it: client-go uses that one for every URL without TLS
// (k8s.io/client-go/transport/cache.go).
func kubeconfig(of *rest.Config) ([]byte, error) {
	cluster, user := &clientcmdapi.Cluster{Server: of.Host}, &clientcmdapi.AuthInfo{}
	if of.Transport != nil {
		scheme := fmt.Sprintf("nodesim%d", schemes.Add(1))
		http.DefaultTransport.(*http.Transport).RegisterProtocol(scheme, of.Transport)
		cluster.Server = scheme + "://cluster"
	} else {
		if err := rest.LoadTLSFiles(of); err != nil {
			return nil, err
		}
		cluster.CertificateAuthorityData = of.CAData
		user.ClientCertificateData, user.ClientKeyData, user.Token = of.CertData, of.KeyData, of.BearerToken
	}
	return clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"c": cluster}, AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": user},
		Contexts: map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}}, CurrentContext: "x",
	})
}
