package tables

import (
	"cmp"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	storagemigrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func storageVersions() *Printer {
	status := apiserverinternalv1alpha1.StorageVersionStatus{}
	return typed(func(v *apiserverinternalv1alpha1.StorageVersion, now time.Time) []any {
		var servers []string
		for _, s := range v.Status.StorageVersions {
			servers = append(servers, s.APIServerID+"="+s.EncodingVersion)
		}
		return []any{
			v.Name, ptr.Deref(v.Status.CommonEncodingVersion, unset), cmp.Or(firstFew(servers, 3, ","), unset), since(v.CreationTimestamp, now),
		}
	},
		nameColumn(),
		text("CommonEncodingVersion", doc(status, "commonEncodingVersion")),
		text("StorageVersions", doc(status, "storageVersions")),
		ageColumn(),
	)
}

// storageVersionMigrations has a name column that isn't marked as one, and no age.
func storageVersionMigrations() *Printer {
	return typed(storageVersionMigrationCells,
		text("Name", doc(metav1.ObjectMeta{}, "name")),
		text("Resource", "GroupResource to migrate"),
		text("Status", "Status of the migration"),
	)
}

// storageVersionMigrationCells goes by the last condition that is true.
func storageVersionMigrationCells(m *storagemigrationv1beta1.StorageVersionMigration, _ time.Time) []any {
	status := string(corev1.ConditionUnknown)
	for _, c := range m.Status.Conditions {
		if c.Status != metav1.ConditionTrue {
			continue
		}
		switch c.Type {
		case string(storagemigrationv1beta1.MigrationRunning), string(storagemigrationv1beta1.MigrationFailed),
			string(storagemigrationv1beta1.MigrationSucceeded):
			status = c.Type
		}
	}
	return []any{m.Name, m.Spec.Resource.String(), status}
}
