package snapshot_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/timeline"
)

// begun are the objects with which a file's simulation begins.
func begun(t *testing.T, f *scenarios.File) (h *timeline.Header, objects []timeline.Event) {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }() // it was only read
	for ev, err := range r.All() {
		switch {
		case err != nil:
			t.Fatal(err)
		case ev.At > 0:
			return r.Header(), objects
		case ev.Type == timeline.Added:
			ev.Object = append([]byte{}, ev.Object...)
			objects = append(objects, ev)
		}
	}
	return r.Header(), objects
}

// told is what a test compares of objects: what a forecast depends on.
func told(objects []timeline.Event) map[string]string {
	out := map[string]string{}
	for _, ev := range objects {
		of := map[string][][]string{
			"nodes": {
				{"status", "allocatable"}, {"spec", "taints"}, {"spec", "unschedulable"}, {"status", "nodeInfo", "kubeletVersion"},
				{"metadata", "labels", "topology.kubernetes.io/zone"}, {"metadata", "labels", "node.kubernetes.io/instance-type"},
				{"metadata", "labels", "eks.amazonaws.com/nodegroup"}, {"metadata", "labels", "karpenter.sh/nodepool"},
				{"metadata", "labels", "cloud.google.com/gke-nodepool"}, {"metadata", "labels", "kubernetes.azure.com/agentpool"},
				{"metadata", "labels", "kops.k8s.io/instancegroup"},
			},
			"pods": {
				{"spec", "nodeName"}, {"spec", "tolerations"}, {"spec", "terminationGracePeriodSeconds"}, {"spec", "topologySpreadConstraints"},
				{"spec", "nodeSelector"}, {"spec", "containers"}, {"spec", "priority"}, {"metadata", "labels"},
			},
			"poddisruptionbudgets": {{"spec"}, {"status", "disruptionsAllowed"}},
		}[ev.Resource]
		for _, path := range of {
			text := string(rawjson.Get(ev.Object, path...))
			switch path[len(path)-1] {
			case "labels":
				text = rawjson.Text(ev.Object, "metadata", "labels", "app")
			case "containers": // a resizePolicy that says what is so without it isn't in a file
				text = ""
				for c := range rawjson.Elements(rawjson.Get(ev.Object, path...)) {
					text += rawjson.Text(c, "name") + rawjson.Text(c, "image") + string(rawjson.Get(c, "resources"))
				}
			}
			out[ev.Resource+" "+ev.Namespace+"/"+ev.Name+" "+path[len(path)-1]] = text
		}
	}
	return out
}

// TestReadAgain: the cluster of each shipped scenario, read from its simulation's first moment, begins as the scenario does.
func TestReadAgain(t *testing.T) {
	for _, s := range scenarios.All() {
		if s.Document == nil {
			continue
		}
		f, err := s.Document.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		header, want := begun(t, f)
		var r snapshot.Reading
		for _, ev := range want {
			kind, _ := header.Lookup(ev.Resource)
			if err := r.Add(kind.APIVersion(), kind.Kind, ev.Object); err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
		}
		read, err := r.File(snapshot.Options{Header: header, At: header.Metadata.Start.Time, Name: s.Name})
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		_, got := begun(t, &scenarios.File{File: *read})
		if n := len(told(want)); n < 50 {
			t.Errorf("%s: compares %d fields, want those of its nodes and pods", s.Name, n)
		}
		if differ := cmp.Diff(told(want), told(got)); differ != "" {
			t.Errorf("%s: the cluster begins otherwise (-want +got):\n%s", s.Name, differ)
		}
	}
}
