package localcluster

import (
	"crypto/x509/pkix"
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// identities writes certificates and kubeconfigs for everyone, as kubeadm names them (cmd/kubeadm/app/phases/certs and
// .../kubeconfig), and sets the administrator's configuration.
func (c *ControlPlane) identities() error {
	folder := c.group.Path("certs")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	ca, err := newAuthority(folder, "ca")
	if err != nil {
		return err
	}
	front, err := newAuthority(folder, "front-proxy-ca")
	if err != nil {
		return err
	}
	if err := writeKey(c.group.Path("certs", "service-accounts.key")); err != nil {
		return err
	}
	c.authority = ca.text
	var admin pair
	for _, who := range []struct {
		file    string
		by      *authority
		subject pkix.Name
		hosts   []string
		keep    *pair
	}{
		{"apiserver", ca, pkix.Name{CommonName: APIServer}, []string{
			"127.0.0.1", "localhost", serviceIP, "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		}, nil},
		{"apiserver-kubelet-client", ca, pkix.Name{CommonName: "kube-apiserver-kubelet-client", Organization: []string{"system:masters"}}, nil, nil},
		{"front-proxy-client", front, pkix.Name{CommonName: "front-proxy-client"}, nil, nil},
		{"controller-manager", ca, pkix.Name{CommonName: "system:kube-controller-manager"}, nil, nil},
		{"scheduler", ca, pkix.Name{CommonName: "system:kube-scheduler"}, nil, nil},
		{"admin", ca, pkix.Name{CommonName: "kubernetes-admin", Organization: []string{"system:masters"}}, nil, &admin},
	} {
		p, err := who.by.issue(who.file, who.subject, who.hosts...)
		if err != nil {
			return err
		}
		if who.keep != nil {
			*who.keep = p
		}
	}
	c.admin = admin
	return nil
}

// kubeconfigs writes the kubeconfigs, when the port is known: of the two programs, who find their certificates in
// the folder, and of the administrator, whose file can be taken elsewhere.
func (c *ControlPlane) kubeconfigs() error {
	for _, who := range []string{"controller-manager", "scheduler"} {
		user := &api.AuthInfo{ClientCertificate: c.group.Path("certs", who+".crt"), ClientKey: c.group.Path("certs", who+".key")}
		text, err := c.kubeconfigOf(who, user)
		if err != nil {
			return err
		}
		if err := os.WriteFile(c.group.Path("certs", who+".kubeconfig"), text, 0o600); err != nil {
			return err
		}
	}
	text, err := c.kubeconfigOf("nodesim-"+c.options.Name, &api.AuthInfo{
		ClientCertificateData: c.admin.certificate, ClientKeyData: c.admin.key,
	})
	if err != nil {
		return err
	}
	c.config = &rest.Config{
		Host: c.url(), QPS: -1, // no limit: the API server has its own
		TLSClientConfig: rest.TLSClientConfig{CAData: c.authority, CertData: c.admin.certificate, KeyData: c.admin.key},
	}
	return os.WriteFile(c.KubeconfigPath(), text, 0o600)
}

func (c *ControlPlane) kubeconfigOf(name string, user *api.AuthInfo) ([]byte, error) {
	file := api.NewConfig()
	more, err := extensions(c.options.Speed)
	if err != nil {
		return nil, err
	}
	file.Clusters[name] = &api.Cluster{Server: c.url(), CertificateAuthorityData: c.authority, Extensions: more}
	file.AuthInfos[name] = user
	file.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	return clientcmd.Write(*file)
}

func (c *ControlPlane) url() string { return fmt.Sprintf("https://127.0.0.1:%d", c.port) }
