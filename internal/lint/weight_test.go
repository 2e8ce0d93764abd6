package lint

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// mostLinked is the number of packages that may be compiled for the program, those of the standard library among
// them: each costs its builder a second or so, and memory at its start. Lower it whenever there are fewer.
// 600 and, for `nodesim explain`, two of our own: replay/analysis and replay/analysis/rolls. One for `nodesim export`,
// internal/app/export: it writes protobuf and Parquet itself, since parquet-go would link 48 more, and 5 MB. Four for
// `nodesim import`, of five: recorder/formats, recorder/auditlog, recorder/internal/strategic, archive/tar and archive/zip.
// 52 for policies and `nodesim diff`: cel-go with its parser and Protocol Buffers brings 49, which Kubernetes' own
// validations are made of, and three are ours.
// One for `nodesim report`: internal/app/report.
// 14 for the panel that a user looks through: Bubble Tea with what it reads keys by brings 13, among them colorprofile with
// terminfo, errgroup and image/png, and one is ours.
// One for `nodesim calibrate`: scenarios/calibrate.
// Two for `nodesim snapshot`: internal/app/snapshot and scenarios/snapshot.
// Four for `nodesim hunt`: scenarios/hunt, scenarios/hunt/variant, internal/app/hunt and internal/shards.
// Two for `nodesim plan`: internal/app/plan and scenarios/plan.
// One for programs that link more than cmd/nodesim does: cmd/nodesim/app, the command line.
// One for released programs of a control plane: internal/localcluster/assets/download.
// One for `nodesim cluster up --detach`: internal/app/clusters/detach, which the command line has no room for.
// Three for `nodesim tapes`: internal/app/tapes, recorder/store and recorder/daemon/trigger.
// Five for releases: internal/version, which the tapes name as well, and the packages of client-go's plugins of
// authentication, as kubectl links them: auth, auth/oidc, auth/azure and auth/gcp.
// Three for `nodesim record --daemon`: recorder/daemon, internal/app/daemon, and internal/promtext, of what was in virtualnode/api.
// One for `nodesim test --store`: internal/app/storetest.
// Eight fewer with k8s.io 0.35 than with 0.37, and with replay/apiserver/internal/route in place of what it compares with.
const mostLinked = 692

// heavy are packages that the program must not link, each with what to use instead.
var heavy = []struct {
	path    *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`^plugin$`), "nothing: it makes the linker keep every symbol"},
	{regexp.MustCompile(`^sigs\.k8s\.io/kustomize/`), "client-go's clientcmd, as cmd/nodesim/app/connection.go does; it comes with cli-runtime"},
	{regexp.MustCompile(`^k8s\.io/cli-runtime/`), "client-go's clientcmd, as cmd/nodesim/app/connection.go does"},
	{regexp.MustCompile(`^k8s\.io/client-go/kubernetes(/|$)`), "internal/kubeclient for clients, internal/apischeme for kinds, and interfaces with the methods that are used"},
	{regexp.MustCompile(`^k8s\.io/client-go/(discovery|gentype|testing)(/|$)`), "requests by client-go's rest, as internal/kubeclient and recorder/offers.go make them"},
	{regexp.MustCompile(`^k8s\.io/client-go/(informers|dynamic/dynamicinformer)(/|$)`), "scenarios/virtualnode/informer"},
	{regexp.MustCompile(`^k8s\.io/client-go/tools/(events|leaderelection)(/|$)`), "tools/record, or scenarios/live's seriesRecorder; it links the clients of every group"},
	{regexp.MustCompile(`^k8s\.io/client-go/applyconfigurations(/|$)`), "replay/internal/applyschema"},
	{regexp.MustCompile(`^sigs\.k8s\.io/controller-runtime/`), "interfaces such as podupdate.Pods; it links the clients of every group, and Prometheus"},
	{regexp.MustCompile(`^k8s\.io/(component-base|apiserver/pkg/(features|util/feature|endpoints/handlers/negotiation))(/|$)`), "replay/apiserver/internal/negotiation"},
	{regexp.MustCompile(`^github\.com/prometheus/(client_golang|common)/`), "internal/promtext"},
	{regexp.MustCompile(`^k8s\.io/kube-openapi/pkg/(builder|handler3?)(/|$)`), "replay/apiserver/internal/openapi's document"},
	{regexp.MustCompile(`^go\.opentelemetry\.io/`), "nothing; it comes with component-base"},
	{regexp.MustCompile(`^k8s\.io/client-go/util/(exec|retry)$`), "k8s.io/utils/exec; againAfterConflict of scenarios/live"},
	{regexp.MustCompile(`^k8s\.io/metrics/`), "the types of scenarios/internal/metrics"},
	{regexp.MustCompile(`^github\.com/google/go-cmp/`), "difflib: it calls methods by reflection, so that the linker keeps all, 8 MB"},
	{regexp.MustCompile(`^testing$`), "test support in a package that only tests import"},
}

// TestWeight holds what is compiled for the program: it was 1,037 packages once, and a fresh clone took five minutes to its
// first demo.
func TestWeight(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/nodesim")
	list.Dir = "../.."
	list.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build has it
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) > mostLinked {
		t.Errorf("found %d packages in the program: want at most %d; go list -deps ./cmd/nodesim names them", len(packages), mostLinked)
	}
	if len(packages) < 300 {
		t.Errorf("found %d packages in the program: want all of them listed", len(packages))
	}
	page, err := os.ReadFile("../../" + contributing)
	if err != nil {
		t.Fatal(err)
	}
	if n, line := rowNumber(page, "packages compiled for the program"); n != mostLinked {
		t.Errorf("%s:%d: packages compiled for the program: found %d, want mostLinked, %d", contributing, line, n, mostLinked)
	}
	for _, is := range packages {
		for _, h := range heavy {
			if h.path.MatchString(is) {
				t.Errorf("found %s in the program: want %s", is, h.instead)
			}
		}
	}
}
