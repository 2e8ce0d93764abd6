package clusters_test

import (
	"fmt"
	"os"
	"time"

	"github.com/nodesim/nodesim/internal/app/clusters"
)

var (
	began = time.Date(2026, time.November, 21, 8, 0, 0, 0, time.UTC)
	demo  = clusters.Record{
		Name: "demo", State: clusters.Running, Server: "https://127.0.0.1:44939", Kubeconfig: "clusters/demo.1/kubeconfig",
		Started: began, Keeper: 4711, Speed: 20, Folder: "clusters/demo.1", AuditLog: "audit.jsonl",
		Processes: map[string]int{"etcd": 4713, "kube-apiserver": 4714, "kube-controller-manager": 4715, "kube-scheduler": 4716},
	}
)

func ExampleWriteList() {
	if err := clusters.WriteList(os.Stdout, []clusters.Record{
		demo, {Name: "local", State: clusters.Starting, Started: began.Add(time.Minute)},
	}, began.Add(90*time.Second)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// NAME   STATE     AGE  SERVER                   KUBECONFIG
	// demo   running   90s  https://127.0.0.1:44939  clusters/demo.1/kubeconfig
	// local  starting  30s  -                        -
}

func ExampleRecord_Write() {
	if err := demo.Write(os.Stdout, began.Add(time.Hour)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// cluster                  demo, running for 60m
	// server                   https://127.0.0.1:44939
	// kubeconfig               clusters/demo.1/kubeconfig
	// audit log                audit.jsonl
	// folder                   clusters/demo.1
	// speed                    20x: a silent node is Unknown after 2.5s, its pods go 15 s later
	// kept by                  process 4711
	// etcd                     process 4713
	// kube-apiserver           process 4714
	// kube-controller-manager  process 4715
	// kube-scheduler           process 4716
}
