package spec

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/nodesim/nodesim/golden"
)

// A mistake is one edit of a sound file.
type mistake struct{ name, old, new string }

// edited is a text with the one occurrence of old replaced.
func edited(t *testing.T, text string, m mistake) string {
	t.Helper()
	if n := strings.Count(text, m.old); n != 1 {
		t.Fatalf("%s: %q is %d times in the file, want it once", m.name, m.old, n)
	}
	return strings.Replace(text, m.old, m.new, 1)
}

// ofForm are mistakes that the schema knows too, but for a few about which
// JSON says nothing: those have yaml in their names.
var ofForm = []mistake{
	{"a key misspelt", "  nodes: $(nodes)", "  ndoes: $(nodes)"},
	{"a key of another case", "timeLimit: 4h", "timelimit: 4h"},
	{"a key that is like no other", "seed: 7", "xyzzy: 7"},
	{"a key too deep to guess", "requests: {cpu: 100m, memory: $(memory)}", "requests: {cpu: 100m, gpu: 1}"},
	{"a fault misspelt", "spotInterruption: {", "spotInteruption: {"},
	{"a distribution's key", "boot: {median: 38s, p95: 65s}", "boot: {median: 38s, p59: 65s}"},
	{"half a distribution", "boot: {median: 38s, p95: 65s}", "boot: {median: 38s}"},
	{"two distributions", "boot: {median: 38s, p95: 65s}", "boot: {uniform: [1s, 2s], p95: 65s}"},
	{"a distribution of one end", "becomeReady: {uniform: [10s, 20s]}", "becomeReady: {uniform: [10s]}"},
	{"a distribution that is a number", "statusSync: 5s", "statusSync: 5"},
	{"never where it can't be", "statusSync: 5s", "statusSync: never"},
	{"no name", "- name: workers\n  nodes:", "- nodes:"},
	{"no cluster", "cluster:\n  provider: eks\n  name: prod", "clusters:\n  provider: eks\n  name: prod"},
	{"another apiVersion", "apiVersion: nodesim.dev/v1", "apiVersion: nodesim.dev/v2"},
	{"another kind", "kind: Scenario", "kind: Timeline"},
	{"a word for a number", "  min: 1\n", "  min: one\n"},
	{"text for a number", "  min: 1\n", "  min: \"1\"\n"},
	{"half a node", "  min: 1\n", "  min: 1.5\n"},
	{"a negative number", "  min: 1\n", "  min: -1\n"},
	{"ten million nodes", "  nodes: 3\n", "  nodes: 10000000\n"},
	{"a number for text", `kubernetesVersion: "1.34"`, `kubernetesVersion: 1.34`},
	{"a bool for text", "  name: prod\n", "  name: true\n"},
	{"nothing for text", "  name: prod\n", "  name:\n"},
	{"a list for text", "  name: prod\n", "  name: [prod]\n"},
	{"text for a list", "  groups: [workers, burst]", "  groups: workers"},
	{"a list for a mapping", "autoscaler:\n  groups: [workers]\n", "autoscaler:\n- groups: [workers]\n"},
	{"nothing for a list", "budgets:\n", "budgets:\nfault:\n"},
	{"yes for true", "  events: true", "  events: \"yes\""},
	{"a negative duration", "settle: 60s", "settle: -60s"},
	{"a duration without unit", "settle: 60s", "settle: 60"},
	{"a duration in days", "settle: 60s", "settle: 3d"},
	{"no time", `start: "2026-11-20T22:00:00Z"`, `start: yesterday`},
	{"a member without a name", "{name: ip-10-0-1-10.eu-central-1.compute.internal, zone: eu-central-1a, age: 36h", "{zone: eu-central-1a, age: 36h"},
	{"allocatable that is a word", "memory: 1000Gi, pods: 737, example.com/fpga: 2", "memory: much, pods: 737"},
	{"a key that no pod spec has", "    priorityClassName: high\n", "    priorityClass: high\n"},
	{"no RFC 3339", `start: "2026-11-20T22:00:00Z"`, `start: "2026-11-20 22:00"`},
	{"a negative seed", "seed: 7", "seed: -7"},
	{"a version of the future", `kubernetesVersion: "1.34"`, `kubernetesVersion: "1.37"`},
	{"a provider misspelt", "provider: eks", "provider: ekz"},
	{"a provider unknown", "provider: eks", "provider: hetzner"},
	{"a kubelet profile unknown", "kubelet: $(kubelet)\n", "kubelet: mock\n"},
	{"an operating system unknown", "os: al2023\n", "os: beos\n"},
	{"a strategy misspelt", "strategy: eks-default", "strategy: eks_default"},
	{"a name in capitals", "- name: workers\n", "- name: Workers\n"},
	{"a name with an underscore", "- name: workers\n", "- name: my_workers\n"},
	{"a label's key", "labels: {team: shop,", "labels: {-team: shop,"},
	{"a label's value", "labels: {team: shop,", "labels: {team: \"a b\","},
	{"a label's number", "labels: {team: shop,", "labels: {team: 5,"},
	{"a finalizer without domain", "finalizer: example.com/hold", "finalizer: hold"},
	{"a quantity of words", "memory: $(memory)", "memory: lots"},
	{"a quantity with an exponent", "memory: $(memory)", "memory: 1e999999999"},
	{"a percentage above 100", "maxUnavailable: $(surge)", "maxUnavailable: 101%"},
	{"a percentage of nothing", "rollbackAt: \"50%\"", "rollbackAt: 50"},
	{"a taint's effect", "taints: [{key: example.com/dedicated, value: shop, effect: NoSchedule}]", "taints: [{key: example.com/dedicated, value: shop, effect: noSchedule}]"},
	{"a parameter's type", "{name: force, type: bool,", "{name: force, type: boolean,"},
	{"a parameter without doc", `default: false, doc: "delete what can't be evicted in time"}`, `default: false}`},
	{"a parameter without default", "type: bool, default: false,", "type: bool,"},
	{"a parameter's name", "{name: force, type: bool,", "{name: Force, type: bool,"},
	{"no trigger", "{at: 2m, neverReady:", "{neverReady:"},
	{"two triggers", "{at: 2m, neverReady:", "{at: 2m, after: {fault: loss}, neverReady:"},
	{"no action", "- {at: 7m, shutdown: {}}", "- {at: 7m}"},
	{"two actions", "- {at: 7m, shutdown: {}}", "- {at: 7m, shutdown: {}, reboot: {}}"},
	{"a state of neither nodes nor pods", "when: {nodes: draining, count: 2,", "when: {count: 2,"},
	{"a state of both nodes and pods", "when: {nodes: draining, count: 2,", "when: {nodes: draining, pods: pending, count: 2,"},
	{"a state unknown", "when: {nodes: draining, count: 2,", "when: {nodes: drained, count: 2,"},
	{"a budget of neither", "{workload: db, maxUnavailable: 1}", "{workload: db}"},
	{"a budget of both", "{workload: db, maxUnavailable: 1}", "{workload: db, maxUnavailable: 1, minAvailable: 1}"},
	{"an image or a workload", "imagePull: {image: \"registry.example/db:1.0.0\"}", "imagePull: {}"},
	{"a crash of neither", "crash: {workload: web, container: proxy, pods: 2}", "crash: {}"},
	{"a crash of both", "crash: {workload: web, container: proxy, pods: 2}", "crash: {workload: web, image: a}"},
	{"a policy of no resize", "memory: RestartContainer}", "memory: Restart}"},
	{"a reference half written", "image: registry.example/web:$(tag)", "image: registry.example/web:$(tag"},
	{"yaml: a key twice", "settle: 60s", "seed: 60s"},
	{"yaml: an anchor", "settle: 60s", "settle: &a 60s"},
	{"yaml: an alias", "settle: 60s", "settle: &a 60s\nx: *a"},
	{"yaml: a merge key", "  name: prod\n", "  <<: {name: prod}\n"},
	{"yaml: a tag", "settle: 60s", "settle: !!str 60s"},
	{"yaml: a second document", "apiVersion: nodesim.dev/v1\n", "a: 1\n---\napiVersion: nodesim.dev/v1\n"},
	{"yaml: no YAML", "settle: 60s", "settle: [60s"},
	{"yaml: too deep", "seed: 7", "seed: [[[[[[[[[[[[[[[[[[7]]]]]]]]]]]]]]]]]]"},
	{"yaml: a key that is a list", "seed: 7", "[seed]: 7"},
	{"yaml: an empty key", "seed: 7", "\"\": 7"},
	{"yaml: bytes that no terminal should see", "title: a file with every key there is", `title: "\e[2J\u202e"`},
	{"yaml: a number with an underscore", "seed: 7", "seed: 1_000"},
	{"yaml: a number in hexadecimal", "seed: 7", "seed: 0x7"},
	{"yaml: a seed too large", "seed: 7", "seed: 18446744073709551616"},
	{"yaml: a reference in a key", "  name: prod\n", "  $(tag): prod\n"},
	{"yaml: a reference in the metadata", "  name: everything\n", "  name: $(tag)\n"},
}

// ofMeaning are mistakes that no schema can know.
var ofMeaning = []mistake{
	{"a round that never rests", "statusSync: 5s", "statusSync: 1ms"},
	{"a reference misspelt", "  nodes: $(nodes)", "  nodes: $(ndoes)"},
	{"a reference to nothing", "image: registry.example/web:$(tag)", "image: registry.example/web:$(xyzzy)"},
	{"a parameter not used", "  force: $(force)\n", ""},
	{"a parameter twice", "- {name: force, type: bool,", "- {name: nodes, type: bool,"},
	{"a parameter below its min", "default: 6, min: 3,", "default: 2, min: 3,"},
	{"a parameter of another type", "default: 6, min: 3,", "default: six, min: 3,"},
	{"a parameter's ends crossed", "default: 6, min: 3, max: 100,", "default: 6, min: 3, max: 2,"},
	{"a parameter's end of another type", "default: 6, min: 3,", "default: 6, min: 3s,"},
	{"a min for a bool", "type: bool, default: false,", "type: bool, default: false, min: 0,"},
	{"values for an int", "type: int, default: 6,", "type: int, values: [a], default: 6,"},
	{"an enum without values", "type: enum, values: [real, kwok],", "type: enum,"},
	{"a default that is no value", "values: [real, kwok], default: real", "values: [real, kwok], default: mock"},
	{"a parameter that fits nowhere", "default: 6, min: 3, max: 100,", "default: 6000000, min: 3, max: 10000000,"},
	{"a text parameter that fits nowhere", `default: "1.4.2"`, `default: "1 4 2"`},
	{"an absurd duration", "settle: 60s", "settle: 241h"},
	{"a duration past counting", "settle: 60s", "settle: 999999999h"},
	{"no time at all", "timeLimit: 4h", "timeLimit: 0s"},
	{"settling past the time limit", "settle: 60s", "settle: 5h"},
	{"a year of no computer", `start: "2026-11-20T22:00:00Z"`, `start: "1776-07-04T00:00:00Z"`},
	{"two groups of a name", "- name: burst\n", "- name: workers\n"},
	{"two workloads of a name", "- name: db\n", "- name: web\n"},
	{"two faults of a name", "- {name: pull, after:", "- {name: loss, after:"},
	{"two budgets of a name", "- {workload: db, maxUnavailable: 1}", "- {workload: web, maxUnavailable: 1}"},
	{"a zone twice", "  zones: [eu-central-1a, eu-central-1b]\n", "  zones: [eu-central-1a, eu-central-1a]\n"},
	{"a zone of elsewhere", "  zones: [eu-central-1a, eu-central-1b]\n", "  zones: [eu-central-1a, eu-central-1d]\n"},
	{"no zones", "  zones: [eu-central-1a, eu-central-1b]\n", "  zones: []\n"},
	{"an operating system of another provider", "os: al2023\n", "os: cos\n"},
	{"an instance type unknown", "  instanceType: m5.large\n", "  instanceType: m5.lrage\n"},
	{"an instance type of another cloud", "  instanceType: m5.large\n", "  instanceType: Standard_D2s_v5\n"},
	{"an instance type of an image", "instanceType: m5.xlarge}", "instanceType: m6.xlarge}"},
	{"an environment", "- {name: cache, resources:", "- {name: cache, env: [{name: A, value: b}], resources:"},
	{"a pod's priority as text", "    priority: 1000\n", "    priority: \"1000\"\n"},
	{"an operator of no selector", "operator: In, values: [fast]", "operator: Is, values: [fast]"},
	{"a container twice", "    - {name: cache, resources:", "    - {name: cache}\n    - {name: cache, resources:"},
	{"both kinds of words", "  podLabels: {app.kubernetes.io/name: cache", "  grace: 5s\n  podLabels: {app.kubernetes.io/name: cache"},
	{"a selector and a workload", "- {name: cache, namespace: shop, maxUnavailable: 1,", "- {name: cache, namespace: shop, workload: web, maxUnavailable: 1,"},
	{"a budget of nothing", "{workload: db, maxUnavailable: 1}", "{name: db, maxUnavailable: 1}"},
	{"fewer members than nodes", "  nodes: 3\n", "  nodes: 4\n"},
	{"a node twice", "name: ip-10-0-1-11.", "name: ip-10-0-1-10."},
	{"a pod on no node", "b7c9d, zone: eu-central-1b}", "b7c9d, node: ip-10-0-9-9}"},
	{"a pod twice", "cache-7d9f8-b7c9d", "cache-7d9f8-x2k4j"},
	{"a volume's zone of a pod that runs", "x2k4j, node:", "x2k4j, zone: eu-central-1b, node:"},
	{"a type of which too little is said", "name: x8g.16xlarge, cpu: 64, memory: 1Ti", "name: x8g.16xlarge, memory: 1Ti"},
	{"a type of no memory", "name: x8g.16xlarge, cpu: 64, memory: 1Ti", "name: x8g.16xlarge, cpu: 64"},
	{"a type twice", "instanceTypes: [", "instanceTypes: [{name: x8g.16xlarge, cpu: 4, memory: 1Gi}, "},
	{"a type in no zone", "zones: [eu-central-1b]}", "zones: []}"},
	{"a type in another region's zone", "zones: [eu-central-1b]}", "zones: [eu-west-1b]}"},
	{"a group where its type isn't", "instanceType: m5.large\n  capacityType", "instanceType: x8g.16xlarge\n  capacityType"},
	{"an unknown type near one of the file's", "instanceType: m5.large\n  capacityType", "instanceType: x8g.16xlrage\n  capacityType"},
	{"a min above the nodes", "  min: 1\n", "  min: 7\n"},
	{"a max below the nodes", "  max: 220\n", "  max: 5\n"},
	{"a kubelet newer than the cluster", "version: v1.34.2-eks-ecaa3a6", "version: v1.35.0-eks-ecaa3a6"},
	{"a kubelet far older than the cluster", "version: v1.33.5-eks-ecaa3a6", "version: v1.30.14-eks-ecaa3a6"},
	{"nothing to roll", "to: {image: ami-0f9e8d7c6b5a43210, version: v1.34.2-eks-ecaa3a6, release: 1.34.2-20251209, instanceType: m5.xlarge}", "to: {image: ami-0a1b2c3d4e5f60718, version: v1.33.5-eks-ecaa3a6, release: 1.33.5-20251112, instanceType: m5.large}"},
	{"a handler of another provider", "handler: nth", "handler: karpenter"},
	{"replicas of a DaemonSet", "{name: agent, kind: DaemonSet,", "{name: agent, kind: DaemonSet, replicas: 3,"},
	{"half a second of grace", "grace: 30s", "grace: 30500ms"},
	{"spread hard over nothing", "  spread: zone\n", "  spread: none\n"},
	{"no finalizer to hold", "  finalizer: example.com/hold\n", ""},
	{"a workload of the far future", "createAt: 5m", "createAt: 5h"},
	{"a workload on no group", "  group: workers\n  tolerations", "  group: workres\n  tolerations"},
	{"a toleration of no key", "{operator: Exists, effect: NoExecute, for: 60s}", "{effect: NoExecute, for: 60s}"},
	{"a toleration of any value", "{operator: Exists, effect: NoExecute, for: 60s}", "{key: a, value: b, operator: Exists}"},
	{"a toleration for a while", "{operator: Exists, effect: NoExecute, for: 60s}", "{operator: Exists, for: 60s}"},
	{"pods past counting", "  replicas: 12\n", "  replicas: 3500000\n"},
	{"nodes past counting", "  nodes: 3\n", "  nodes: 100000\n  max: 100000\n"},
	{"minAvailable above the replicas", `minAvailable: "50%"`, `minAvailable: 13`},
	{"two workloads of a name in a namespace", "workloads:\n", "workloads:\n- {name: web, namespace: shop}\n"},
	{"a budget of two namespaces' workloads", "workloads:\n", "workloads:\n- {name: web, namespace: a}\n"},
	{"a budget of a workload elsewhere", "{workload: db, maxUnavailable: 1}", "{workload: shop/dbs, maxUnavailable: 1}"},
	{"a container with the workload's name", "containers: [{name: proxy,", "containers: [{name: web,"},
	{"two containers of a name", "containers: [{name: proxy,", "containers: [{name: proxy}, {name: proxy,"},
	{"a crash of no container", "container: proxy", "container: prxy"},
	{"a crash of an image and a container", "crash: {image:", "crash: {container: db, image:"},
	{"a budget of no workload", "{workload: db, maxUnavailable: 1}", "{workload: dbs, maxUnavailable: 1}"},
	{"a budget in another namespace", "{workload: db, maxUnavailable: 1}", "{workload: db, namespace: x, maxUnavailable: 1}"},
	{"a budget's share of a DaemonSet", "{workload: db, maxUnavailable: 1}", "{workload: agent, maxUnavailable: 1}"},
	{"a strategy of another provider", "strategy: eks-default", "strategy: gke-surge"},
	{"a surge that the strategy has not", "  at: 30s\n", "  at: 30s\n  maxSurge: 1\n"},
	{"a soak that the strategy has not", "  at: 30s\n", "  at: 30s\n  soak: 1m\n"},
	{"nothing unavailable", "maxUnavailable: $(surge)", "maxUnavailable: 0"},
	{"no group to roll", "  groups: [workers, burst]", "  groups: []"},
	{"a roll of no group", "  groups: [workers, burst]", "  groups: [workers, brust]"},
	{"a roll of a group twice", "  groups: [workers, burst]", "  groups: [workers, workers]"},
	{"a roll past the time limit", "  at: 30s\n", "  at: 30h\n"},
	{"a roll that stops and goes back", "  onFailure: rollback\n", "  stopAfter: 3\n"},
	{"a standby of a group not scaled", "standby: [{group: workers, count: 1}]", "standby: [{group: burst}]"},
	{"a timing misspelt", "  statusSync: 5s", "  statusSnyc: 5s"},
	{"a lognormal upside down", "boot: {median: 38s, p95: 65s}", "boot: {median: 65s, p95: 38s}"},
	{"a uniform upside down", "becomeReady: {uniform: [10s, 20s]}", "becomeReady: {uniform: [20s, 10s]}"},
	{"a fault past the time limit", "- {at: 7m, shutdown: {}}", "- {at: 7h, shutdown: {}}"},
	{"a fault in no group", "neverReady: {group: burst,", "neverReady: {group: brust,"},
	{"a fault of no workload", "memoryLeak: {workload: web,", "memoryLeak: {workload: wbe,"},
	{"a fault in no zone", "zoneOutage: {zone: eu-central-1c,", "zoneOutage: {zone: eu-central-1x,"},
	{"a fault when in no group", "when: {nodes: draining, count: 2, group: workers,", "when: {nodes: draining, count: 2, group: wrokers,"},
	{"a workload of nodes", "when: {nodes: draining, count: 2, group: workers,", "when: {nodes: draining, count: 2, workload: web,"},
	{"a fault after none", "after: {fault: loss, delay: 30s}", "after: {fault: los, delay: 30s}"},
	{"a fault after itself", "after: {fault: loss, delay: 30s}", "after: {fault: pull, delay: 30s}"},
	{"faults after each other", "{name: loss, at: 90s,", "{name: loss, after: {fault: pull},"},
	{"spot instances of none", "spotInterruption: {group: burst,", "spotInterruption: {group: workers,"},
	{"a flap faster than it lasts", "times: 4, every: 3m}", "times: 4, every: 1m}"},
	{"a flap's pause where it happens once", "times: 4, every: 3m}", "every: 4m}"},
	{"a fault of kubelets where there are none", "kubelet: $(kubelet)", "kubelet: kwok"},
	{"volumes of a workload without", "volumeStuck: {workload: db,", "volumeStuck: {workload: web,"},
	{"a flap that never ends", "for: 60s, times: 2}", "times: 2}"},
	{"a DaemonSet scaled", "scale: {workload: web,", "scale: {workload: agent,"},
	{"a stream fault misspelt", "close:pods,at", "colse:pods,at"},
	{"a stream fault at no time", "close:pods,at=T+1m", "close:pods,at=soon"},
	{"a stream fault of what the tape doesn't hold", "close:pods,", "close:pdos,"},
	{"a crash of so many of an image", "crash: {image: \"registry.example/db:1.0.0\", for: 10m}", "crash: {image: \"registry.example/db:1.0.0\", pods: 3}"},
	{"a crash of a workload for a while", "crash: {workload: web, container: proxy, pods: 2}", "crash: {workload: web, for: 1m}"},
	{"a crash of no workload", "crash: {workload: web, container: proxy, pods: 2}", "crash: {workload: wbe}"},
	{"a node roll of an image", "  at: 30s\n", "  at: 30s\n  image: a\n"},
	{"a node roll of a workload", "  at: 30s\n", "  at: 30s\n  workload: web\n"},
	{"a workload created twice", "createWorkload: {workload: late}", "createWorkload: {workload: import}"},
}

func TestEveryMistakeIsNamed(t *testing.T) {
	base := everything(t)
	var all strings.Builder
	for _, m := range append(append([]mistake{}, ofForm...), ofMeaning...) {
		_, err := Parse("f.yaml", []byte(edited(t, base, m)))
		var bad *Error
		if !errors.As(err, &bad) {
			t.Errorf("%s: got %v, want an *Error", m.name, err)
			continue
		}
		if bad.Line < 1 || bad.Found == "" || bad.Wanted == "" && bad.Remedy == "" || strings.IndexFunc(err.Error(), unicode.IsControl) >= 0 {
			t.Errorf("%s: %q lacks its line, what was found or what is wanted, or isn't one line", m.name, err)
		}
		fmt.Fprintf(&all, "%s\n\t%s\n", m.name, err)
	}
	head, _, _ := strings.Cut(small, "groups:")
	many := head + "groups: [" + strings.Repeat("1,", maxItems) + "1]\n"
	for _, text := range []string{head + "groups: []\n", many, head + strings.Repeat("k", maxKey+1) + ": 1\n", "", "# nothing\n", "[]", "7", "null", "a: 1\xff", strings.Repeat("#", MaxFile+1)} {
		_, err := Parse("f.yaml", []byte(text))
		fmt.Fprintf(&all, "the file …%.30q\n\t%v\n", text[max(0, len(text)-30):], err)
	}
	golden.Assert(t, "file-errors", all.String())
}

// A pod without a controller can't be scaled, and no budget can have a share of it.
func TestWhatNeedsAController(t *testing.T) {
	const scaled = "faults: [{at: 1m, scale: {workload: web, replicas: 2}}]\n"
	pod := strings.Replace(small, "namespace: shop}", "namespace: shop, kind: Pod}", 1)
	for text, want := range map[string]string{
		small + scaled: "",
		pod:            "f.yaml:10: budgets[0]: a share of a Pod's pods: want minAvailable as a number; the kind has no scale",
		strings.Replace(pod, "maxUnavailable", "minAvailable", 1):          "",
		strings.Replace(pod, "maxUnavailable", "minAvailable", 1) + scaled: `f.yaml:12: faults[0].scale.workload: "web", a Pod: want a workload that has replicas`,
	} {
		got := ""
		if _, err := Parse("f.yaml", []byte(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q, want %q of\n%s", got, want, text)
		}
	}
}

func TestSchemaAgreesWithParse(t *testing.T) {
	judge := bySchema(t)
	base := everything(t)
	for _, m := range ofForm {
		if err := judge(edited(t, base, m)); err == nil && !strings.HasPrefix(m.name, "yaml:") {
			t.Errorf("%s: the schema takes it, want it refused as Parse does", m.name)
		}
	}
	for _, m := range ofMeaning {
		if err := judge(edited(t, base, m)); err != nil {
			t.Errorf("%s: the schema refuses a file whose form is good: %v", m.name, err)
		}
	}
}

func TestEverySettingIsJudged(t *testing.T) {
	d, err := Parse("f.yaml", []byte(everything(t)))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, text := range []string{
		"nodes", "=3", "Nodes=3", "ndoes=3", "xyzzy=3", "nodes=", "nodes=many", "nodes=2", "nodes=101", "nodes=007", "nodes=1e1",
		"force=1", "kubelet=mock", "tag=", "tag=a\nb", "tag=a b", "stall=1s", "stall=2h", "stall=5", "surge=0%", "surge=50", "memory=5Gi",
		"memory=1e9", "nodes=99999999999999999999", "\x1b[2J=1",
	} {
		s, err := ParseSetting(text)
		if err == nil {
			_, err = d.Resolve([]Setting{s}, nil)
		}
		fmt.Fprintf(&all, "%.40q\n\t%v\n", text, err)
	}
	golden.Assert(t, "setting-errors", all.String())
}
