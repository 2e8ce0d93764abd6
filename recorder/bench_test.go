package recorder_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func init() { helpers["floor"] = floorHelper }

// floorHelper is the least that a client can do: it reads the watch of
// HELPER_PATH over HTTP/1.1 and writes it to HELPER_TAPE undecoded, until it
// shows HELPER_END.
func floorHelper() int {
	out, err := os.Create(os.Getenv("HELPER_TAPE"))
	if err != nil {
		return complain(err)
	}
	client, host, err := floorClient()
	if err != nil {
		return complain(err)
	}
	resp, err := client.Get(host + os.Getenv("HELPER_PATH"))
	if err != nil {
		return complain(err)
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return complain(fmt.Errorf("%s: %s", resp.Status, text))
	}
	fmt.Println("recording")
	end := os.Getenv("HELPER_END")
	buf := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buf)
		if _, err := out.Write(buf[:n]); err != nil {
			return complain(err)
		}
		if err == io.EOF {
			return complain(err)
		}
		if end != "" && strings.Contains(string(buf[:n]), `"`+end+`"`) {
			break
		}
		if err != nil {
			return complain(err)
		}
	}
	return 0
}

// streamer serves a list of nodes, then a stream of status patches at a pace,
// then the end.
type streamer struct {
	nodes, events int
	four          bool // conditions in every node, else one
	pace          time.Duration
	pods          int
}

func (s *streamer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if body, ok := discovery[r.URL.Path]; ok {
		_, _ = io.WriteString(w, body)
		return
	}
	one, n := s.node, s.nodes
	if r.URL.Path == podsPath {
		one, n = s.pod, s.pods
	}
	if r.URL.Query().Get("watch") != "" {
		s.stream(w, r, one, n)
		return
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	to := min(from+500, n)
	next := ""
	if to < n {
		next = strconv.Itoa(to)
	}
	_, _ = fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1000","continue":%q},"items":[`, next)
	for i := from; i < to; i++ {
		if i > from {
			_, _ = io.WriteString(w, ",")
		}
		_, _ = w.Write(one(nil, i, 0))
	}
	_, _ = io.WriteString(w, "]}")
}

func (s *streamer) stream(w http.ResponseWriter, r *http.Request, one func([]byte, int, int) []byte, n int) {
	flush := http.NewResponseController(w).Flush
	_ = flush()
	var frame []byte
	start := time.Now()
	for i := range s.events {
		if r.URL.Path != nodesPath {
			break
		}
		frame = append(frame[:0], `{"type":"MODIFIED","object":`...)
		frame = append(one(frame, i%n, i+1), "}\n"...)
		if due := time.Duration(i) * s.pace; s.pace > 0 && time.Since(start) < due {
			timer := time.NewTimer(due - time.Since(start))
			<-timer.C
		}
		if _, err := w.Write(frame); err != nil {
			return
		}
		if s.pace > 0 {
			_ = flush()
		}
	}
	end := strings.ReplaceAll(string(one(nil, n, s.events+1)), s.name(n), "end")
	_, _ = fmt.Fprintf(w, "{\"type\":\"ADDED\",\"object\":%s}\n", end)
	_ = flush()
	<-r.Context().Done()
}

func (s *streamer) name(i int) string { return fmt.Sprintf("ip-10-0-%d-%d", i/250, i%250) }

// pressures are the conditions that a kubelet posts before Ready.
const pressures = `{"type":"MemoryPressure","status":"False","lastHeartbeatTime":%q,"lastTransitionTime":"2026-11-20T21:21:48Z","reason":"KubeletHasSufficientMemory","message":"kubelet has sufficient memory available"},{"type":"DiskPressure","status":"False","lastHeartbeatTime":%q,"lastTransitionTime":"2026-11-20T21:21:48Z","reason":"KubeletHasNoDiskPressure","message":"kubelet has no disk pressure"},{"type":"PIDPressure","status":"False","lastHeartbeatTime":%q,"lastTransitionTime":"2026-11-20T21:21:48Z","reason":"KubeletHasSufficientPID","message":"kubelet has sufficient PID available"},`

// node returns what a small EKS node looks like on a watch, managed fields included.
func (s *streamer) node(dst []byte, i, event int) []byte {
	at := time.Date(2026, 11, 20, 22, 0, event/100, 0, time.UTC).Format(time.RFC3339)
	more := ""
	if s.four {
		more = fmt.Sprintf(pressures, at, at, at)
	}
	name := s.name(i)
	return fmt.Appendf(dst, `{"kind":"Node","apiVersion":"v1","metadata":{"name":%q,"uid":"57b8f2c1-914b-4238-8c41-%012d","resourceVersion":"%d","creationTimestamp":"2026-11-20T21:21:51Z","labels":{"beta.kubernetes.io/arch":"amd64","beta.kubernetes.io/instance-type":"m6i.large","beta.kubernetes.io/os":"linux","eks.amazonaws.com/capacityType":"SPOT","eks.amazonaws.com/nodegroup":"spot-burst","eks.amazonaws.com/nodegroup-image":"ami-0a1b2c3d4e5f60718","failure-domain.beta.kubernetes.io/region":"us-east-1","failure-domain.beta.kubernetes.io/zone":"us-east-1a","k8s.io/cloud-provider-aws":"4c0a3b5b6a7c8d9e0f1a2b3c4d5e6f70","kubernetes.io/arch":"amd64","kubernetes.io/hostname":%q,"kubernetes.io/os":"linux","node.kubernetes.io/instance-type":"m6i.large","topology.kubernetes.io/region":"us-east-1","topology.kubernetes.io/zone":"us-east-1a"},"annotations":{"alpha.kubernetes.io/provided-node-ip":"10.0.1.10","node.alpha.kubernetes.io/ttl":"0","volumes.kubernetes.io/controller-managed-attach-detach":"true"},"managedFields":[{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-11-20T21:21:51Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:alpha.kubernetes.io/provided-node-ip":{},"f:volumes.kubernetes.io/controller-managed-attach-detach":{}},"f:labels":{".":{},"f:beta.kubernetes.io/arch":{},"f:beta.kubernetes.io/os":{},"f:eks.amazonaws.com/capacityType":{},"f:eks.amazonaws.com/nodegroup":{},"f:eks.amazonaws.com/nodegroup-image":{},"f:kubernetes.io/arch":{},"f:kubernetes.io/hostname":{},"f:kubernetes.io/os":{}}},"f:spec":{"f:providerID":{}}}},{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":%q,"fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"DiskPressure\"}":{"f:lastHeartbeatTime":{}},"k:{\"type\":\"MemoryPressure\"}":{"f:lastHeartbeatTime":{}},"k:{\"type\":\"PIDPressure\"}":{"f:lastHeartbeatTime":{}},"k:{\"type\":\"Ready\"}":{"f:lastHeartbeatTime":{},"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{}}}}},"subresource":"status"}]},"spec":{"providerID":"aws:///us-east-1a/i-0123456789abcdef0"},"status":{"capacity":{"cpu":"2","ephemeral-storage":"20893676Ki","hugepages-1Gi":"0","hugepages-2Mi":"0","memory":"7910544Ki","pods":"29"},"allocatable":{"cpu":"1930m","ephemeral-storage":"18181869946","hugepages-1Gi":"0","hugepages-2Mi":"0","memory":"7220368Ki","pods":"29"},"conditions":[%s{"type":"Ready","status":"True","lastHeartbeatTime":%q,"lastTransitionTime":"2026-11-20T21:22:04Z","reason":"KubeletReady","message":"kubelet is posting ready status"}],"addresses":[{"type":"InternalIP","address":"10.0.1.10"},{"type":"InternalDNS","address":"%s.ec2.internal"},{"type":"Hostname","address":"%s.ec2.internal"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},"nodeInfo":{"machineID":"ec2a1b2c3d4e5f60718293a4b5c6d7e8","systemUUID":"ec2a1b2c-3d4e-5f60-7182-93a4b5c6d7e8","bootID":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","kernelVersion":"6.1.158-180.294.amzn2023.x86_64","osImage":"Amazon Linux 2023.9.20251208","containerRuntimeVersion":"containerd://2.1.5","kubeletVersion":"v1.33.4-eks-ecaa3a6","kubeProxyVersion":"v1.33.4-eks-ecaa3a6","operatingSystem":"linux","architecture":"amd64"}}}`,
		name, i, 1000+event, name, at, more, at, name, name)
}

// pod returns what a web server's pod looks like.
func (s *streamer) pod(dst []byte, i, event int) []byte {
	name := fmt.Sprintf("web-8477fc54c7-%06d", i)
	if i == s.pods {
		name = s.name(i)
	}
	return fmt.Appendf(dst, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"generateName":"web-8477fc54c7-","namespace":"team-%d","uid":"1b1f37dd-d44e-4f27-8128-%012d","resourceVersion":"%d","creationTimestamp":"2026-11-20T22:21:05Z","labels":{"app":"web","pod-template-hash":"8477fc54c7"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-8477fc54c7","uid":"c2488bc9-a4f6-464c-9aa1-7204c1789ba4","controller":true,"blockOwnerDeletion":true}],"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-11-20T22:21:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"c2488bc9-a4f6-464c-9aa1-7204c1789ba4\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:env":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{},"f:readinessProbe":{},"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{},"f:volumeMounts":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}}]},"spec":{"volumes":[{"name":"kube-api-access-x7x2q","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],"containers":[{"name":"web","image":"registry.k8s.io/web:1.2.3","ports":[{"containerPort":8080,"protocol":"TCP"}],"env":[{"name":"DB_PASSWORD","value":"canary"}],"resources":{"limits":{"memory":"512Mi"},"requests":{"cpu":"100m","memory":"256Mi"}},"volumeMounts":[{"name":"kube-api-access-x7x2q","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"readinessProbe":{"httpGet":{"path":"/ready","port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","serviceAccount":"default","nodeName":%q,"securityContext":{},"schedulerName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},"status":{"phase":"Running","conditions":[{"type":"PodReadyToStartContainers","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-20T22:21:09Z"},{"type":"Initialized","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-20T22:21:06Z"},{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-20T22:21:19Z"},{"type":"ContainersReady","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-20T22:21:19Z"},{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-20T22:21:06Z"}],"hostIP":"10.0.1.10","hostIPs":[{"ip":"10.0.1.10"}],"podIP":"10.0.3.%d","podIPs":[{"ip":"10.0.3.%d"}],"startTime":"2026-11-20T22:21:06Z","containerStatuses":[{"name":"web","state":{"running":{"startedAt":"2026-11-20T22:21:09Z"}},"lastState":{},"ready":true,"restartCount":0,"image":"registry.k8s.io/web:1.2.3","imageID":"registry.k8s.io/web@sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0","containerID":"containerd://0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0","started":true}],"qosClass":"Burstable"}}`,
		name, i%40, i, 1000+event, s.name(i%max(s.nodes, 1)), i%250, i%250)
}

// cost holds what a process has used.
type cost struct {
	cpu  time.Duration
	rss  int64 // bytes
	size int64 // of its file
}

// spend runs a role to its end.
func spend(b *testing.B, cmd *exec.Cmd, file string) cost {
	b.Helper()
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return costOf(b, cmd, file)
}

func costOf(b *testing.B, cmd *exec.Cmd, file string) cost {
	b.Helper()
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), int64(usage.Maxrss) << 10, info.Size()} //nolint:unconvert // an int32 on 386
}

// BenchmarkRecording records 20,000 status patches of 100 nodes, 800 a second
// over TLS, beside the least that any client spends on reading them. The
// limits are 2x the floor, 320 B an event plain, 20 B with zstd, and 50 MB.
func BenchmarkRecording(b *testing.B) {
	for name, four := range map[string]bool{"one-condition": false, "four-conditions": true} {
		b.Run(name, func(b *testing.B) {
			s := &streamer{nodes: 100, events: 20_000, four: four, pace: time.Second / 800}
			server := httptest.NewUnstartedServer(s)
			server.TLS = &tls.Config{NextProtos: []string{"http/1.1"}}
			server.StartTLS()
			defer server.Close()
			for b.Loop() {
				dir := b.TempDir()
				env := []string{"HELPER_HOST=" + server.URL, "HELPER_END=end", "HELPER_RESOURCES=nodes"}
				run := func(role, file string, more ...string) cost {
					file = filepath.Join(dir, file)
					return spend(b, startHelper(b, role, append(append(env, more...), "HELPER_TAPE="+file)...), file)
				}
				floor := run("floor", "floor.json", "HELPER_PATH="+nodesPath+"?watch=1")
				plain := run("record", "tape.yaml")
				packed := run("record", "tape.yaml.zst")
				n := float64(s.events)
				b.ReportMetric(float64(floor.cpu.Microseconds())/n, "floor-µs/event")
				b.ReportMetric(float64(plain.cpu.Microseconds())/n, "plain-µs/event")
				b.ReportMetric(float64(packed.cpu.Microseconds())/n, "zstd-µs/event")
				b.ReportMetric(float64(plain.cpu)/float64(floor.cpu), "x-floor")
				b.ReportMetric(float64(plain.size)/n, "plain-B/event")
				b.ReportMetric(float64(packed.size)/n, "zstd-B/event")
				b.ReportMetric(float64(floor.size)/n, "wire-B/event")
				b.ReportMetric(float64(plain.rss)/1e6, "plain-MB-rss")
				b.ReportMetric(float64(packed.rss)/1e6, "zstd-MB-rss")
				b.ReportMetric(float64(floor.rss)/1e6, "floor-MB-rss") // the same program, which reads and writes only
			}
		})
	}
}

// BenchmarkBigCluster lists 5,000 nodes with 150,000 pods. The limit is 500 MB.
func BenchmarkBigCluster(b *testing.B) {
	server := httptest.NewServer(&streamer{nodes: 5000, pods: 150_000})
	defer server.Close()
	for b.Loop() {
		file := filepath.Join(b.TempDir(), "tape.yaml")
		c := spend(b, startHelper(b, "record", "HELPER_HOST="+server.URL, "HELPER_END=end", "HELPER_RESOURCES=nodes,pods", "HELPER_TAPE="+file), file)
		b.ReportMetric(float64(c.rss)/1e6, "MB-rss")
		b.ReportMetric(c.cpu.Seconds(), "s-cpu")
		b.ReportMetric(float64(c.size)/155_000, "B/object")
	}
}

// floorClient speaks HTTP/1.1 as the recorder does, through client-go's own
// transport.
func floorClient() (*http.Client, string, error) {
	config, err := helperConfig()
	if err != nil {
		return nil, "", err
	}
	config.NextProtos = []string{"http/1.1"}
	config.DisableCompression = true
	client, err := rest.HTTPClientFor(config)
	return client, strings.TrimSuffix(config.Host, "/"), err
}
