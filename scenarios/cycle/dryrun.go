package cycle

import "context"

// DryRun returns an environment that looks and doesn't touch: LookupClusterID and DescribeCluster reach env; the rest
// does nothing but return the context's error, nil while it is alive.
func DryRun(env Environment) Environment { return dryRun{env} }

type dryRun struct{ base Environment }

func (d dryRun) LookupClusterID(ctx context.Context, name string) (ClusterID, error) {
	return d.base.LookupClusterID(ctx, name)
}

func (d dryRun) DescribeCluster(ctx context.Context, id ClusterID) (Cluster, error) {
	return d.base.DescribeCluster(ctx, id)
}

func (dryRun) StartInstances(ctx context.Context, _ ClusterID, _ int) error  { return ctx.Err() }
func (dryRun) DrainInstances(ctx context.Context, _ ...InstanceID) error     { return ctx.Err() }
func (dryRun) TerminateInstances(ctx context.Context, _ ...InstanceID) error { return ctx.Err() }
func (dryRun) WaitInstances(ctx context.Context, _ InstanceState, _ ...InstanceID) error {
	return ctx.Err()
}
