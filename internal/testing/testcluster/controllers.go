package testcluster

import (
	"errors"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/localcluster/assets"
)

// controllers are those of kube-controller-manager that a node roll needs; fewer controllers, fewer surprises.
const controllers = "deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller," +
	"disruption-controller,node-lifecycle-controller," +
	"taint-eviction-controller,pod-garbage-collector-controller,garbage-collector-controller,namespace-controller"

// StartControllers starts kube-controller-manager, kube-scheduler and the kubelets of this package as the administrator and returns at once;
// what they do shows when nodes become ready and pods run. They serve no ports, elect no leader, and stop with the
// cluster. A second call does nothing.
//
// kube-controller-manager deletes the pods of a node that is gone after 40 to 60 s, at a fixed pace
// (k8s.io/kubernetes, pkg/controller/podgc/gc_controller.go: quarantineTime, gcCheckPeriod).
func (c *Cluster) StartControllers() error {
	if len(c.group.Processes()) > 0 {
		return nil
	}
	kubeconfig := c.path("admin.kubeconfig")
	if err := WriteKubeconfig(kubeconfig, c.config); err != nil {
		return err
	}
	grace := c.options.nodeGrace()
	manager := c.run("kube-controller-manager", []string{
		"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--secure-port=0", "--controllers=" + strings.Join(append([]string{controllers}, c.options.Controllers...), ","),
		"--node-monitor-grace-period=" + grace.String(),
		"--node-monitor-period=" + min(grace/4, 5*time.Second).String(),
		"--kube-api-qps=200", "--kube-api-burst=400",
	})
	binary, err := assets.Find("kube-scheduler")
	if err == nil {
		err = c.group.RunAgain("kube-scheduler", binary, []string{
			"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--secure-port=0",
			"--kube-api-qps=200", "--kube-api-burst=400",
		})
	}
	var failed error
	c.kubelets, failed = startKubelets(c.config, c.options)
	return errors.Join(manager, err, failed)
}

// ControllersAlive is an error if a process of StartControllers has ended by itself.
func (c *Cluster) ControllersAlive() error {
	var all []error
	for _, p := range c.group.Processes() {
		all = append(all, p.Alive())
	}
	return errors.Join(all...)
}

// StopControllers ends what StartControllers started, for good: nothing of it runs again on this cluster, and what is in
// the cluster stays as it is. Events that are under way may still be written by the API server.
func (c *Cluster) StopControllers() error {
	c.kubelets.close()
	return c.group.Stop()
}

// run starts one of the control plane's programs, which stops with the cluster.
func (c *Cluster) run(name string, args []string, env ...string) error {
	binary, err := assets.Find(name)
	if err != nil {
		return err
	}
	_, err = c.group.Run(name, binary, args, env...)
	return err
}
