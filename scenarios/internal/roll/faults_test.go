package roll_test

import (
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
)

// brokenUserData keeps the kubelets of new machines from starting.
func brokenUserData(c *cluster) func(cloud.Change, *cloud.Instance) {
	return func(change cloud.Change, i *cloud.Instance) {
		if change == cloud.Launched {
			c.After(0, func() { c.Cloud.Ail(i, func(a *cloud.Ailments) { a.UserDataFail = true }) })
		}
	}
}
