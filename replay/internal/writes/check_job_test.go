package writes

import (
	"encoding/json"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/nodesim/nodesim/internal/rawjson"
)

const podOfJob = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`

// checked is what a rule says of an object.
func checked[T any](t testing.TB, rule func(*T) field.ErrorList, text string) string {
	t.Helper()
	obj := new(T)
	if err := json.Unmarshal([]byte(text), obj); err != nil {
		t.Fatal(err, text)
	}
	if err := rule(obj).ToAggregate(); err != nil {
		return err.Error()
	}
	return ""
}

// What only an Indexed Job may ask for, and policies that no controller could follow, are refused.
func TestRulesOfJobs(t *testing.T) {
	for _, one := range []struct{ spec, want string }{
		{`{}`, ``},
		{`{"completionMode":"Indexed","completions":3,"backoffLimitPerIndex":1,"maxFailedIndexes":2}`, ``},
		{`{"backoffLimitPerIndex":1}`, `spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode`},
		{`{"completionMode":"Indexed","completions":1,"maxFailedIndexes":2}`,
			`[spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified, spec.maxFailedIndexes: Invalid value: 2: must be less than or equal to completions]`},
		{`{"completionMode":"Indexed","completions":200000,"parallelism":100001}`,
			`spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed`},
		{`{"completionMode":"Indexed","completions":200000,"parallelism":1,"backoffLimitPerIndex":1}`,
			`spec.maxFailedIndexes: Required value: must be specified when completions is above 100000`},
		{`{"managedBy":"me"}`, `spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")`},
		{`{"podReplacementPolicy":"Never"}`, `spec.podReplacementPolicy: Unsupported value: "Never": supported values: "Failed", "TerminatingOrFailed"`},
		{`{"podFailurePolicy":{"rules":[{"action":"FailIndex","onExitCodes":{"operator":"In","containerName":"d","values":[3,0,3]}}]}}`,
			`[spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set, ` +
				`spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "d": must be one of the container or initContainer names in the pod template, ` +
				`spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator, ` +
				`spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 3, ` +
				`spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,0,3]: must be ordered]`},
		{`{"podFailurePolicy":{"rules":[{"action":"Count"},{"action":"Ignore","onPodConditions":[{"type":"Ready"}]}]}}`,
			`[spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required, ` +
				`spec.podFailurePolicy.rules[1].onPodConditions[0].status: Required value: valid values: ["False" "True" "Unknown"]]`},
		{`{"completionMode":"Indexed","completions":4,"successPolicy":{"rules":[{"succeededIndexes":"0,2-3","succeededCount":3}]}}`, ``},
		{`{"completionMode":"Indexed","completions":4,"successPolicy":{"rules":[{},{"succeededIndexes":"2-5"},{"succeededIndexes":"1,1"},{"succeededIndexes":"1","succeededCount":2}]}}`,
			`[spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified, ` +
				`spec.successPolicy.rules[1].succeededIndexes: Invalid value: "2-5": error parsing succeededIndexes: too large index: "5", ` +
				`spec.successPolicy.rules[2].succeededIndexes: Invalid value: "1,1": error parsing succeededIndexes: non-increasing order, previous: 1, current: 1, ` +
				`spec.successPolicy.rules[3].succeededCount: Invalid value: 2: must be less than or equal to 1 (the number of indexes in the specified succeededIndexes field)]`},
	} {
		text := string(rawjson.Apply(nil, []byte(`{"spec":{`+podOfJob+`}}`), []byte(`{"spec":`+one.spec+`}`)))
		equal(t, one.spec, checked(t, job, text), one.want)
	}
	equal(t, "a policy and restarts", checked(t, job, `{"spec":{"podFailurePolicy":{"rules":[]},"template":{"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c","image":"i"}]}}}}`),
		`spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified`)
	equal(t, "a negative ordinal", checked(t, statefulSet, `{"spec":{"ordinals":{"start":-1},"selector":{"matchLabels":{"a":"b"}},`+
		`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`),
		`spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0`)
}

// A CronJob's zone is one of the world's, whatever the machine is set to, and its Jobs have selectors of their own.
func TestRulesOfCronJobs(t *testing.T) {
	unknown := func(zone string) string {
		return `spec.timeZone: Invalid value: "` + zone + `": unknown time zone ` + zone
	}
	for _, one := range []struct{ spec, want string }{
		{`{"schedule":"*/10 8-18 * * mon-fri"}`, ``},
		{`{"schedule":""}`, `spec.schedule: Required value`},
		{`{"schedule":"61 * * * *"}`, `spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61`},
		{`{"schedule":"TZ=UTC 0 * * * *"}`, `spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`},
		{`{"timeZone":"Europe/Berlin"}`, ``},
		{`{"timeZone":"Etc/GMT+1"}`, ``},
		{`{"timeZone":""}`, `spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string`},
		{`{"timeZone":"local"}`, `spec.timeZone: Invalid value: "local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones`},
		{`{"timeZone":"Nowhere"}`, unknown("Nowhere")},
		{`{"timeZone":"../Berlin"}`, unknown("../Berlin")},
		{`{"timeZone":"Europe//Berlin"}`, unknown("Europe//Berlin")},
		{`{"timeZone":"-1"}`, unknown("-1")},
		{`{"startingDeadlineSeconds":-1,"failedJobsHistoryLimit":-1}`, `[spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0, ` +
			`spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0]`},
		{`{"jobTemplate":{"spec":{"manualSelector":true}}}`, `spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"`},
	} {
		text := string(rawjson.Apply(nil, []byte(`{"spec":{"schedule":"0 0 1 1 *","jobTemplate":{"spec":{`+podOfJob+`}}}}`), []byte(`{"spec":`+one.spec+`}`)))
		equal(t, one.spec, checked(t, cronJob, text), one.want)
	}
}

// What of a Job can't change, and what can while it is suspended.
func TestRulesOfChangedJobs(t *testing.T) {
	const no = "field is immutable"
	job := func(change string) *batchv1.Job {
		j := &batchv1.Job{}
		text := rawjson.Apply(nil, []byte(`{"spec":{"suspend":true,"parallelism":1,"completions":1,"completionMode":"Indexed",`+podOfJob+`}}`), []byte(change))
		if err := json.Unmarshal(text, j); err != nil {
			t.Fatal(err)
		}
		return j
	}
	pod := func(spec string) string { return `{"spec":{"template":{"spec":` + spec + `}}}` }
	small := pod(`{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]}`)
	begun := `{"status":{"startTime":"2026-01-01T00:00:00Z"}}`
	for _, one := range []struct{ old, is, at, want string }{
		{``, `{"spec":{"managedBy":"a.io/b"}}`, "spec.managedBy", no},
		{``, `{"spec":{"successPolicy":{"rules":[{"succeededCount":1}]}}}`, "spec.successPolicy", no},
		{``, `{"spec":{"completions":2,"parallelism":2}}`, "", ""},
		{``, `{"spec":{"parallelism":2}}`, "", ""},
		{``, `{"spec":{"completions":2}}`, "spec.completions", "can only be modified in tandem with spec.parallelism"},
		{``, small, "", ""},
		{``, pod(`{"affinity":{"nodeAffinity":{}},"nodeSelector":{"a":"b"}}`), "", ""},
		{``, pod(`{"affinity":{"podAffinity":{}}}`), "spec.template.spec", no},
		{``, pod(`{"restartPolicy":"OnFailure"}`), "spec.template.spec", no},
		{pod(`{"affinity":{"nodeAffinity":{}}}`), pod(`{"affinity":null}`), "", ""},
		{`{"status":{"active":1}}`, small, "spec.template", no},
		{begun, small, "spec.template", no},
		{`{"status":{"startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Suspended","status":"True"}]}}`, small, "", ""},
		{`{"spec":{"suspend":false}}`, small, "spec.template", no},
	} {
		old := one.old
		if old == "" {
			old = `{}`
		}
		at, why := "", ""
		if errs := changedJob(job(one.is), job(old)); len(errs) > 0 {
			at, why = errs[0].Field, errs[0].Detail
		}
		equal(t, one.old+" to "+one.is, at+": "+why, one.at+": "+one.want)
	}
}
