package tables

import (
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func roleBindings() *Printer {
	return typed(func(b *rbacv1.RoleBinding, now time.Time) []any {
		return bindingCells(b.ObjectMeta, b.RoleRef, b.Subjects, now)
	}, bindingColumns(rbacv1.RoleBinding{}, "roleBinding")...)
}

func clusterRoleBindings() *Printer {
	return typed(func(b *rbacv1.ClusterRoleBinding, now time.Time) []any {
		return bindingCells(b.ObjectMeta, b.RoleRef, b.Subjects, now)
	}, bindingColumns(rbacv1.ClusterRoleBinding{}, "clusterRoleBinding")...)
}

func bindingColumns(binding documented, called string) []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		nameColumn(),
		text("Role", doc(binding, "roleRef")),
		ageColumn(),
		wide(text("Users", "Users in the "+called)),
		wide(text("Groups", "Groups in the "+called)),
		wide(text("ServiceAccounts", "ServiceAccounts in the "+called)),
	}
}

// bindingCells sorts the subjects by kind; of an unknown kind none is shown.
func bindingCells(meta metav1.ObjectMeta, role rbacv1.RoleRef, subjects []rbacv1.Subject, now time.Time) []any {
	var users, groups, accounts []string
	for _, s := range subjects {
		switch s.Kind {
		case rbacv1.UserKind:
			users = append(users, s.Name)
		case rbacv1.GroupKind:
			groups = append(groups, s.Name)
		case rbacv1.ServiceAccountKind:
			accounts = append(accounts, s.Namespace+"/"+s.Name)
		}
	}
	return []any{
		meta.Name, role.Kind + "/" + role.Name, since(meta.CreationTimestamp, now),
		strings.Join(users, ", "), strings.Join(groups, ", "), strings.Join(accounts, ", "),
	}
}
