package writes

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/nodesim/nodesim/internal/kubedefaults"
)

// The rules of Jobs and CronJobs: kubernetes/pkg/apis/batch/validation/validation.go.

// job is ValidateJobSpec. The selector is the Job's own by then, unless manualSelector asks for another.
func job(j *batchv1.Job) field.ErrorList {
	at := field.NewPath("spec")
	errs := jobSpec(&j.Spec, at)
	missing := j.Spec.Selector == nil && j.Spec.ManualSelector != nil && *j.Spec.ManualSelector
	if missing {
		errs = append(errs, field.Required(at.Child("selector"), ""))
	}
	// No selector is one that selects nothing.
	if selector, err := metav1.LabelSelectorAsSelector(j.Spec.Selector); err == nil && (missing || j.Spec.Selector != nil) && !selector.Matches(labels.Set(j.Spec.Template.Labels)) {
		errs = append(errs, field.Invalid(at.Child("template", "metadata", "labels"), j.Spec.Template.Labels, "`selector` does not match template `labels`"))
	}
	return errs
}

// jobSpec is validateJobSpec.
func jobSpec(s *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	errs = append(errs, natural(at, "parallelism", s.Parallelism)...)
	errs = append(errs, natural(at, "completions", s.Completions)...)
	errs = append(errs, naturalSeconds(at, "activeDeadlineSeconds", s.ActiveDeadlineSeconds)...)
	errs = append(errs, natural(at, "backoffLimit", s.BackoffLimit)...)
	errs = append(errs, natural(at, "ttlSecondsAfterFinished", s.TTLSecondsAfterFinished)...)
	errs = append(errs, natural(at, "backoffLimitPerIndex", s.BackoffLimitPerIndex)...)
	errs = append(errs, natural(at, "maxFailedIndexes", s.MaxFailedIndexes)...)
	if s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Required(at.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
	}
	if by := s.ManagedBy; by != nil {
		errs = append(errs, validation.IsDomainPrefixedPath(at.Child("managedBy"), *by)...)
		if len(*by) > validation.DNS1123LabelMaxLength {
			errs = append(errs, field.TooLong(at.Child("managedBy"), "", validation.DNS1123LabelMaxLength))
		}
	}
	errs = append(errs, completionMode(s, at)...)
	errs = append(errs, failurePolicy(s, at)...)
	errs = append(errs, successPolicy(s, at.Child("successPolicy"))...)
	errs = append(errs, replacementPolicy(s, at.Child("podReplacementPolicy"))...)
	errs = append(errs, podTemplate(&s.Template, at.Child("template"))...)
	restart := at.Child("template", "spec", "restartPolicy")
	switch p := s.Template.Spec.RestartPolicy; {
	case p == corev1.RestartPolicyAlways || p == "":
		errs = append(errs, field.Required(restart, fmt.Sprintf("valid values: %q, %q", corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)))
	case p != corev1.RestartPolicyOnFailure && p != corev1.RestartPolicyNever:
		errs = append(errs, field.NotSupported(restart, p, []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}))
	case s.PodFailurePolicy != nil && p != corev1.RestartPolicyNever:
		errs = append(errs, field.Invalid(restart, p, fmt.Sprintf("only %q is supported when podFailurePolicy is specified", corev1.RestartPolicyNever)))
	}
	return errs
}

// How many indexes an Indexed Job may run and fail, and with how many completions it may do so where each index has a
// back-off of its own: its status names them.
const (
	mostIndexes     = 100_000
	mostOfManyFails = 10_000
)

// completionMode says what goes only with the completion mode of another Job.
func completionMode(s *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	mode := batchv1.NonIndexedCompletion
	if s.CompletionMode != nil {
		mode = *s.CompletionMode
	}
	most := func(name string, n *int32, limit int32, when string) {
		if n != nil && *n > limit {
			errs = append(errs, field.Invalid(at.Child(name), *n, fmt.Sprintf("must be less than or equal to %d", limit)+when))
		}
	}
	switch mode {
	case batchv1.NonIndexedCompletion:
		if n := s.BackoffLimitPerIndex; n != nil {
			errs = append(errs, field.Invalid(at.Child("backoffLimitPerIndex"), *n, "requires indexed completion mode"))
		}
		if n := s.MaxFailedIndexes; n != nil {
			errs = append(errs, field.Invalid(at.Child("maxFailedIndexes"), *n, "requires indexed completion mode"))
		}
	case batchv1.IndexedCompletion:
		if s.Completions == nil {
			errs = append(errs, field.Required(at.Child("completions"), fmt.Sprintf("when completion mode is %s", batchv1.IndexedCompletion)))
		}
		most("parallelism", s.Parallelism, mostIndexes, fmt.Sprintf(" when completion mode is %s", batchv1.IndexedCompletion))
		if n := s.MaxFailedIndexes; n != nil && s.Completions != nil && *n > *s.Completions {
			errs = append(errs, field.Invalid(at.Child("maxFailedIndexes"), *n, "must be less than or equal to completions"))
		}
		most("maxFailedIndexes", s.MaxFailedIndexes, mostIndexes, "")
		if s.Completions == nil || *s.Completions <= mostIndexes || s.BackoffLimitPerIndex == nil {
			break
		}
		if s.MaxFailedIndexes == nil {
			errs = append(errs, field.Required(at.Child("maxFailedIndexes"), fmt.Sprintf("must be specified when completions is above %d", mostIndexes)))
		}
		when := fmt.Sprintf(" when completions are above %d and used with backoff limit per index", mostIndexes)
		most("parallelism", s.Parallelism, mostOfManyFails, when)
		most("maxFailedIndexes", s.MaxFailedIndexes, mostOfManyFails, when)
	default:
		errs = append(errs, field.NotSupported(at.Child("completionMode"), mode, []batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion}))
	}
	return errs
}

// mostRules are those of a policy, and mostExitCodes the values of one of them.
const (
	mostRules     = 20
	mostExitCodes = 255
)

// failurePolicy is validatePodFailurePolicy.
func failurePolicy(s *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	if s.PodFailurePolicy == nil {
		return nil
	}
	rules := at.Child("podFailurePolicy", "rules")
	if n := len(s.PodFailurePolicy.Rules); n > mostRules {
		errs = append(errs, field.TooMany(rules, n, mostRules))
	}
	actions := []batchv1.PodFailurePolicyAction{
		batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore,
	}
	for i := range s.PodFailurePolicy.Rules {
		r, at := &s.PodFailurePolicy.Rules[i], rules.Index(i)
		switch {
		case r.Action == "":
			errs = append(errs, field.Required(at.Child("action"), fmt.Sprintf("valid values: %q", actions)))
		case r.Action == batchv1.PodFailurePolicyActionFailIndex && s.BackoffLimitPerIndex == nil:
			errs = append(errs, field.Invalid(at.Child("action"), r.Action, "requires the backoffLimitPerIndex to be set"))
		case !slices.Contains(actions, r.Action):
			errs = append(errs, field.NotSupported(at.Child("action"), r.Action, actions))
		}
		if r.OnExitCodes != nil {
			errs = append(errs, exitCodes(r.OnExitCodes, &s.Template.Spec, at.Child("onExitCodes"))...)
		}
		errs = append(errs, onConditions(r.OnPodConditions, at.Child("onPodConditions"))...)
		switch conditions := len(r.OnPodConditions) > 0; {
		case conditions && r.OnExitCodes != nil:
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported"))
		case !conditions && r.OnExitCodes == nil:
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required"))
		}
	}
	return errs
}

// exitCodes is validatePodFailurePolicyRuleOnExitCodes.
func exitCodes(r *batchv1.PodFailurePolicyOnExitCodesRequirement, pod *corev1.PodSpec, at *field.Path) (errs field.ErrorList) {
	operators := []batchv1.PodFailurePolicyOnExitCodesOperator{batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn}
	errs = append(errs, oneOf(r.Operator, operators, at.Child("operator"))...)
	named := func(c corev1.Container) bool { return c.Name == *r.ContainerName }
	if r.ContainerName != nil && !slices.ContainsFunc(pod.Containers, named) && !slices.ContainsFunc(pod.InitContainers, named) {
		errs = append(errs, field.Invalid(at.Child("containerName"), *r.ContainerName, "must be one of the container or initContainer names in the pod template"))
	}
	values := at.Child("values")
	switch n := len(r.Values); {
	case n == 0:
		errs = append(errs, field.Invalid(values, r.Values, "at least one value is required"))
	case n > mostExitCodes:
		errs = append(errs, field.TooMany(values, n, mostExitCodes))
	}
	had := map[int32]bool{}
	for i, v := range r.Values {
		if r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && v == 0 {
			errs = append(errs, field.Invalid(values.Index(i), v, "must not be 0 for the In operator"))
		}
		if had[v] {
			errs = append(errs, field.Duplicate(values.Index(i), v))
		}
		had[v] = true
	}
	if !slices.IsSorted(r.Values) {
		errs = append(errs, field.Invalid(values, r.Values, "must be ordered"))
	}
	return errs
}

// onConditions is validatePodFailurePolicyRuleOnPodConditions.
func onConditions(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, at *field.Path) (errs field.ErrorList) {
	if n := len(patterns); n > mostRules {
		errs = append(errs, field.TooMany(at, n, mostRules))
	}
	for i, p := range patterns {
		errs = append(errs, metav1validation.ValidateLabelName(string(p.Type), at.Index(i).Child("type"))...)
		errs = append(errs, oneOf(p.Status, []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}, at.Index(i).Child("status"))...)
	}
	return errs
}

// oneOf says that a value has to be one of some.
func oneOf[T ~string](v T, some []T, at *field.Path) field.ErrorList {
	switch {
	case v == "":
		return field.ErrorList{field.Required(at, fmt.Sprintf("valid values: %q", some))}
	case !slices.Contains(some, v):
		return field.ErrorList{field.NotSupported(at, v, some)}
	}
	return nil
}

// replacementPolicy is validatePodReplacementPolicy.
func replacementPolicy(s *batchv1.JobSpec, at *field.Path) field.ErrorList {
	some := []batchv1.PodReplacementPolicy{batchv1.Failed, batchv1.TerminatingOrFailed}
	if s.PodFailurePolicy != nil {
		some = some[:1]
	}
	if p := s.PodReplacementPolicy; p != nil && !slices.Contains(some, *p) {
		return field.ErrorList{field.NotSupported(at, *p, some)}
	}
	return nil
}

// successPolicy is validateSuccessPolicy. A Job without completions has been refused for that.
func successPolicy(s *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	switch {
	case s.SuccessPolicy == nil || s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion && s.Completions == nil:
		return nil
	case s.CompletionMode == nil || *s.CompletionMode != batchv1.IndexedCompletion:
		return field.ErrorList{field.Invalid(at, *s.SuccessPolicy, "requires indexed completion mode")}
	}
	rules := at.Child("rules")
	switch n := len(s.SuccessPolicy.Rules); {
	case n == 0:
		errs = append(errs, field.Required(rules, "at least one rules must be specified when the successPolicy is specified"))
	case n > mostRules:
		errs = append(errs, field.TooMany(rules, n, mostRules))
	}
	for i := range s.SuccessPolicy.Rules {
		errs = append(errs, successRule(&s.SuccessPolicy.Rules[i], *s.Completions, rules.Index(i))...)
	}
	return errs
}

// mostOfIndexes is how long a list of indexes may be.
const mostOfIndexes = 64 * 1024

// successRule is validateSuccessPolicyRule.
func successRule(r *batchv1.SuccessPolicyRule, completions int32, at *field.Path) (errs field.ErrorList) {
	if r.SucceededCount == nil && r.SucceededIndexes == nil {
		errs = append(errs, field.Required(at, "at least one of succeededCount or succeededIndexes must be specified"))
	}
	named := int32(0)
	if list := r.SucceededIndexes; list != nil {
		if len(*list) > mostOfIndexes {
			errs = append(errs, field.TooLong(at.Child("succeededIndexes"), "", mostOfIndexes))
		}
		var err error
		if named, err = countIndexes(*list, completions); err != nil {
			errs = append(errs, field.Invalid(at.Child("succeededIndexes"), *list, "error parsing succeededIndexes: "+err.Error()))
		}
	}
	if n := r.SucceededCount; n != nil {
		errs = append(errs, natural(at, "succeededCount", n)...)
		if *n > completions {
			errs = append(errs, field.Invalid(at.Child("succeededCount"), *n, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions)))
		}
		if r.SucceededIndexes != nil && *n > named {
			errs = append(errs, field.Invalid(at.Child("succeededCount"), *n,
				fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", named)))
		}
	}
	return errs
}

// countIndexes counts what a list such as "0,2-4" names of some completions (validateIndexesFormat).
func countIndexes(list string, completions int32) (n int32, err error) {
	last := -1
	for part := range strings.SplitSeq(list, ",") {
		if list == "" {
			return 0, nil
		}
		ends := strings.Split(part, "-")
		if len(ends) > 2 {
			return 0, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", part)
		}
		var of [2]int
		for i, text := range ends {
			if of[i], err = strconv.Atoi(text); err != nil {
				return 0, fmt.Errorf("cannot convert string to integer for index: %q", text)
			}
			if of[i] >= int(completions) {
				return 0, fmt.Errorf("too large index: %q", text)
			}
		}
		switch {
		case len(ends) == 1:
			of[1] = of[0]
		case of[0] >= of[1]:
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", of[0], of[1])
		}
		if last >= of[0] {
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, of[0])
		}
		n, last = n+int32(of[1]-of[0]+1), of[1]
	}
	return n, nil
}

// changedJob is ValidateJobSpecUpdate. Completions of an Indexed Job may change together with its parallelism.
func changedJob(j, old *batchv1.Job) field.ErrorList {
	at, is, was := field.NewPath("spec"), &j.Spec, &old.Spec
	var errs field.ErrorList
	same := func(name string, is, was any) {
		errs = append(errs, apivalidation.ValidateImmutableField(is, was, at.Child(name))...)
	}
	if is.CompletionMode == nil || *is.CompletionMode != batchv1.IndexedCompletion {
		same("completions", is.Completions, was.Completions)
	} else if n := is.Completions; n != nil && !equality.Semantic.DeepEqual(n, was.Completions) && !equality.Semantic.DeepEqual(n, is.Parallelism) {
		errs = append(errs, field.Invalid(at.Child("completions"), n, "can only be modified in tandem with spec.parallelism"))
	}
	same("selector", is.Selector, was.Selector)
	errs = append(errs, changedTemplate(&is.Template, old, at.Child("template"))...)
	same("completionMode", is.CompletionMode, was.CompletionMode)
	same("podFailurePolicy", is.PodFailurePolicy, was.PodFailurePolicy)
	same("backoffLimitPerIndex", is.BackoffLimitPerIndex, was.BackoffLimitPerIndex)
	same("managedBy", is.ManagedBy, was.ManagedBy)
	same("successPolicy", is.SuccessPolicy, was.SuccessPolicy)
	return errs
}

// changedTemplate is validatePodTemplateUpdate: of a Job that is suspended, and has no pods any more, the resources of containers
// and the scheduling may change, but for affinity to pods.
func changedTemplate(is *corev1.PodTemplateSpec, old *batchv1.Job, at *field.Path) field.ErrorList {
	suspended := func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionTrue
	}
	if s := &old.Status; old.Spec.Suspend == nil || !*old.Spec.Suspend || s.Active > 0 || s.StartTime != nil && !slices.ContainsFunc(s.Conditions, suspended) {
		return apivalidation.ValidateImmutableField(is, &old.Spec.Template, at)
	}
	was := old.Spec.Template.Spec.DeepCopy()
	was.NodeSelector, was.Tolerations, was.SchedulingGates = is.Spec.NodeSelector, is.Spec.Tolerations, is.Spec.SchedulingGates
	switch now := is.Spec.Affinity; {
	case now == nil && was.Affinity != nil:
		if was.Affinity.NodeAffinity = nil; *was.Affinity == (corev1.Affinity{}) {
			was.Affinity = nil
		}
	case now != nil && was.Affinity == nil:
		was.Affinity = &corev1.Affinity{NodeAffinity: now.NodeAffinity}
	case now != nil:
		was.Affinity.NodeAffinity = now.NodeAffinity
	}
	resources := func(is, was []corev1.Container) {
		for i := range was {
			if len(is) == len(was) && is[i].Name == was[i].Name {
				was[i].Resources = is[i].Resources
			}
		}
	}
	resources(is.Spec.Containers, was.Containers)
	resources(is.Spec.InitContainers, was.InitContainers)
	return apivalidation.ValidateImmutableField(is.Spec, *was, at.Child("spec"))
}

// cronJob is validateCronJobSpec; an object from before 1.25, whose schedule may name a zone, isn't one of ours.
func cronJob(c *batchv1.CronJob) field.ErrorList {
	at := field.NewPath("spec")
	var errs field.ErrorList
	if in := at.Child("schedule"); c.Spec.Schedule == "" {
		errs = append(errs, field.Required(in, ""))
	} else {
		if _, err := kubedefaults.ParseSchedule(c.Spec.Schedule, time.UTC); err != nil {
			errs = append(errs, field.Invalid(in, c.Spec.Schedule, err.Error()))
		}
		if strings.Contains(c.Spec.Schedule, "TZ") {
			errs = append(errs, field.Invalid(in, c.Spec.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
		}
	}
	errs = append(errs, naturalSeconds(at, "startingDeadlineSeconds", c.Spec.StartingDeadlineSeconds)...)
	errs = append(errs, timeZone(c.Spec.TimeZone, at.Child("timeZone"))...)
	switch p := c.Spec.ConcurrencyPolicy; p {
	case "", batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent:
	default:
		errs = append(errs, field.NotSupported(at.Child("concurrencyPolicy"), p,
			[]batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}))
	}
	job := &c.Spec.JobTemplate.Spec
	in := at.Child("jobTemplate", "spec")
	errs = append(errs, jobSpec(job, in)...)
	if job.Selector != nil {
		errs = append(errs, field.Invalid(in.Child("selector"), job.Selector, "`selector` will be auto-generated"))
	}
	if job.ManualSelector != nil && *job.ManualSelector {
		errs = append(errs, field.NotSupported(in.Child("manualSelector"), job.ManualSelector, []string{"nil", "false"}))
	}
	errs = append(errs, natural(at, "successfulJobsHistoryLimit", c.Spec.SuccessfulJobsHistoryLimit)...)
	return append(errs, natural(at, "failedJobsHistoryLimit", c.Spec.FailedJobsHistoryLimit)...)
}

// inTimeZone is a part of a time zone's name.
var inTimeZone = regexp.MustCompile(`^[A-Za-z._0-9+][-A-Za-z._0-9+]{0,13}$`)

// timeZone is validateTimeZone: the machine's own zone is none.
func timeZone(zone *string, at *field.Path) field.ErrorList {
	switch {
	case zone == nil:
		return nil
	case *zone == "":
		return field.ErrorList{field.Invalid(at, zone, "timeZone must be nil or non-empty string")}
	}
	for part := range strings.SplitSeq(*zone, "/") {
		if part == "." || part == ".." || !inTimeZone.MatchString(part) {
			return field.ErrorList{field.Invalid(at, zone, "unknown time zone "+*zone)}
		}
	}
	if strings.EqualFold(*zone, "Local") {
		return field.ErrorList{field.Invalid(at, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")}
	}
	if _, err := time.LoadLocation(*zone); err != nil {
		return field.ErrorList{field.Invalid(at, zone, err.Error())}
	}
	return nil
}

// naturalSeconds is natural for the numbers of 64 bits.
func naturalSeconds(at *field.Path, name string, n *int64) field.ErrorList {
	if n == nil {
		return nil
	}
	return apivalidation.ValidateNonnegativeField(*n, at.Child(name))
}
