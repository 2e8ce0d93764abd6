package nodemanager_test

import (
	"sync"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager"
	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/certs"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloudinitfile"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
	"github.com/nodesim/nodesim/scenarios/nodemanager/nodeclient"
	"github.com/nodesim/nodesim/scenarios/nodemanager/registry"
	"github.com/nodesim/nodesim/scenarios/nodemanager/stats"
	"github.com/nodesim/nodesim/scenarios/nodemanager/timeoutmap"
)

// The signatures that callers rely on, as they rely on them: a change of one of them doesn't compile.
var (
	_ nodemanager.StatusUpdater    = (*registry.NodeRegistry)(nil)
	_ nodemanager.ScalingAlgorithm = (*nodemanager.BindingNodeScaler)(nil)

	_ func(nodemanager.StatusUpdater, []nodemanager.StandbyNodeSpec, cloud.StatusKeeper, string, bool) *nodemanager.BindingNodeScaler = nodemanager.NewBindingNodeScaler
	_ func(*nodemanager.BindingNodeScaler, []*api.Node, []*api.Pod) ([]*api.Node, []*api.Node, map[string]string)                     = (*nodemanager.BindingNodeScaler).Compute

	_ func() *nodemanager.NodeDispenser                                   = nodemanager.NewNodeDispenser
	_ func(*nodemanager.NodeDispenser, api.Pod) nodemanager.NodeReply     = (*nodemanager.NodeDispenser).RequestNode
	_ func(*nodemanager.NodeDispenser, string, bool)                      = (*nodemanager.NodeDispenser).ReturnNode
	_ func(*nodemanager.NodeController, <-chan struct{}, *sync.WaitGroup) = (*nodemanager.NodeController).Start
	_ func(*nodemanager.NodeController)                                   = (*nodemanager.NodeController).ResumeWaits
	_ func(*nodemanager.NodeController)                                   = (*nodemanager.NodeController).StopCreatingNodes
	_ func(*nodemanager.NodeController) []byte                            = (*nodemanager.NodeController).Dump

	_ = nodemanager.NodeDispenser{NodeRequestChan: make(chan nodemanager.NodeRequest), NodeReturnChan: make(chan nodemanager.NodeReturn)}
	_ = nodemanager.NodeRequest{ReplyChan: make(chan nodemanager.NodeReply)}
	_ = nodemanager.NodeReply{Node: &api.Node{}, NoBinding: true}
	_ = nodemanager.NodeReturn{NodeName: "", Unused: true}
	_ = nodemanager.StandbyNodeSpec{InstanceType: "", Count: 0, Spot: false}
	_ = nodemanager.NodeControllerConfig{time.Second, time.Second, time.Second, "version", "url"}
	_ = nodemanager.NodeController{
		Config:             nodemanager.NodeControllerConfig{},
		NodeRegistry:       (*registry.NodeRegistry)(nil),
		LogRegistry:        (*registry.LogRegistry)(nil),
		PodReader:          registry.PodLister(nil),
		NodeDispenser:      (*nodemanager.NodeDispenser)(nil),
		NodeScaler:         nodemanager.ScalingAlgorithm(nil),
		CloudClient:        cloud.CloudClient(nil),
		NodeClientFactory:  nodeclient.ItzoClientFactoryer(nil),
		Events:             (*events.EventSystem)(nil),
		PoolLoopTimer:      (*stats.LoopTimer)(nil),
		ImageIdCache:       (*timeoutmap.TimeoutMap)(nil),
		CloudInitFile:      (*cloudinitfile.File)(nil),
		CertificateFactory: (*certs.CertificateFactory)(nil),
		CloudStatus:        cloud.StatusKeeper(nil),
		BootImageSpec:      cloud.BootImageSpec(nil),
	}
)

func TestDefaults(t *testing.T) {
	for name, c := range map[string]struct{ got, want time.Duration }{
		"BootTimeout":      {nodemanager.BootTimeout, 300 * time.Second},
		"HealthyTimeout":   {nodemanager.HealthyTimeout, 90 * time.Second},
		"HealthcheckPause": {nodemanager.HealthcheckPause, 5 * time.Second},
		"SpotRequestPause": {nodemanager.SpotRequestPause, 60 * time.Second},
	} {
		if c.got != c.want {
			t.Errorf("%s: found %s, want %s", name, c.got, c.want)
		}
	}
	if nodemanager.BootImage != "" || nodemanager.MaxBootPerIteration != 10 {
		t.Errorf("found image %q and %d boots, want none and 10", nodemanager.BootImage, nodemanager.MaxBootPerIteration)
	}
	if err := nodemanager.DefaultNodeControllerConfig().Validate(5 * time.Second); err != nil {
		t.Errorf("the default intervals break the rule: %v", err)
	}
}
