package apiserver_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
)

// A test reaches the server in memory, and decides what happens when.
func ExampleServer_RESTConfig() {
	p, err := replay.NewPlayer(replay.File("../../cmd/nodesim/app/testdata/tapes/demo.yaml"))
	if err != nil {
		panic(err)
	}
	defer func() { _ = p.Close() }()
	s, err := apiserver.New(p)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	ctx := context.Background()
	nodes := kubernetes.NewForConfigOrDie(s.RESTConfig()).CoreV1().Nodes()
	w, err := nodes.Watch(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		panic(err)
	}
	defer w.Stop()
	for range 3 { // those that are there
		ev := <-w.ResultChan()
		fmt.Println(ev.Type, ev.Object.(metav1.Object).GetName())
	}
	if err := p.Step(); err != nil { // the first event that happens
		panic(err)
	}
	ev := <-w.ResultChan()
	fmt.Println("then", ev.Type, ev.Object.(metav1.Object).GetName(), "at", p.Position())
	// Output:
	// ADDED ip-10-0-1-12
	// ADDED ip-10-0-2-08
	// ADDED ip-10-0-3-21
	// then ADDED ip-10-0-1-44 at 2s
}
