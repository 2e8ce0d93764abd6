package testcluster

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// User provisions a user that may do what the rules say in the whole cluster, and nothing else: authorisation is
// RBAC. Each call makes a new user, whose name begins with the given one. No rules make a user that is known and may
// see nothing but discovery.
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
	if err := c.authorized(ctx, name, rules[0]); err != nil {
		return nil, fmt.Errorf("add user %s: wait for its rights: %w", name, err)
	}
	return user.Config(), nil
}

// authorized waits until the API server grants a user what a rule says: its authorizer reads roles and bindings from
// caches of its own (k8s.io/kubernetes, plugin/pkg/auth/authorizer/rbac).
func (c *Cluster) authorized(ctx context.Context, user string, rule rbacv1.PolicyRule) error {
	if len(rule.Resources) == 0 || len(rule.APIGroups) == 0 || len(rule.Verbs) == 0 {
		return nil // of paths
	}
	resource, sub, _ := strings.Cut(rule.Resources[0], "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: rule.APIGroups[0], Resource: resource, Subresource: sub, Verb: rule.Verbs[0], Version: "*",
		},
	}}
	if len(rule.ResourceNames) > 0 {
		review.Spec.ResourceAttributes.Name = rule.ResourceNames[0]
	}
	return wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		answer, err := c.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed, err
	})
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
