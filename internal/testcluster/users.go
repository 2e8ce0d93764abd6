package testcluster

import (
	"context"
	"fmt"
	"os"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// User provisions a user who may do what the rules say in the whole cluster, and nothing else: authorisation is RBAC.
// Each call makes a new user, whose name begins with the given one. No rules make a user who is known and may see
// nothing but discovery.
func (c *Cluster) User(ctx context.Context, name string, rules ...rbacv1.PolicyRule) (*rest.Config, error) {
	c.mu.Lock()
	c.users++
	name = fmt.Sprintf("%s-%d", name, c.users)
	user, err := c.env.AddUser(envtest.User{Name: name}, &rest.Config{QPS: 1000, Burst: 2000})
	c.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("add user %s: %w", name, err)
	}
	if len(rules) == 0 {
		return user.Config(), nil
	}
	meta := metav1.ObjectMeta{Name: "testcluster:" + name}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}
	if _, err := c.client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("add user %s: %w", name, err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}
	if _, err := c.client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("add user %s: %w", name, err)
	}
	return user.Config(), nil
}

// Rule allows the verbs on resources of one API group; "" is the core group.
func Rule(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

// WriteKubeconfig writes a kubeconfig file for programs that want one, such as nodesim and kubectl.
func WriteKubeconfig(path string, config *rest.Config) error {
	file := clientcmdapi.NewConfig()
	file.Clusters["testcluster"] = &clientcmdapi.Cluster{
		Server: config.Host, CertificateAuthorityData: config.CAData, TLSServerName: config.ServerName,
	}
	file.AuthInfos["testcluster"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
	}
	file.Contexts["testcluster"] = &clientcmdapi.Context{Cluster: "testcluster", AuthInfo: "testcluster"}
	file.CurrentContext = "testcluster"
	text, err := clientcmd.Write(*file)
	if err != nil {
		return fmt.Errorf("write kubeconfig %s: %w", path, err)
	}
	return os.WriteFile(path, text, 0o600)
}
