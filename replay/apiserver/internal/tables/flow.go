package tables

import (
	"cmp"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/utils/ptr"
)

// flowSchemas prints one row. The API server sorts those of a list by matchingPrecedence, then by name.
func flowSchemas() *Printer {
	spec := flowcontrolv1.FlowSchemaSpec{}
	return typed(flowSchemaCells,
		nameColumn(),
		text("PriorityLevel", doc(flowcontrolv1.PriorityLevelConfigurationReference{}, "name")),
		text("MatchingPrecedence", doc(spec, "matchingPrecedence")),
		text("DistinguisherMethod", doc(spec, "distinguisherMethod")),
		ageColumn(),
		text("MissingPL", "references a broken or non-existent PriorityLevelConfiguration"),
	)
}

func flowSchemaCells(schema *flowcontrolv1.FlowSchema, now time.Time) []any {
	spec := &schema.Spec
	distinguisher := none
	if spec.DistinguisherMethod != nil {
		distinguisher = string(spec.DistinguisherMethod.Type)
	}
	missing := "?"
	for _, condition := range schema.Status.Conditions {
		if condition.Type == flowcontrolv1.FlowSchemaConditionDangling {
			missing = string(condition.Status)
			break
		}
	}
	return []any{
		schema.Name, spec.PriorityLevelConfiguration.Name, int64(cmp.Or(spec.MatchingPrecedence, 1000)), distinguisher,
		since(schema.CreationTimestamp, now), missing,
	}
}

func priorityLevels() *Printer {
	queuing := flowcontrolv1.QueuingConfiguration{}
	return typed(priorityLevelCells,
		nameColumn(),
		text("Type", doc(flowcontrolv1.PriorityLevelConfigurationSpec{}, "type")),
		text("NominalConcurrencyShares", doc(flowcontrolv1.LimitedPriorityLevelConfiguration{}, "nominalConcurrencyShares")),
		text("Queues", doc(queuing, "queues")),
		text("HandSize", doc(queuing, "handSize")),
		text("QueueLengthLimit", doc(queuing, "queueLengthLimit")),
		ageColumn(),
	)
}

// priorityLevelCells has numbers in columns of text. The defaults are those of pkg/apis/flowcontrol/v1/defaults.go.
func priorityLevelCells(level *flowcontrolv1.PriorityLevelConfiguration, now time.Time) []any {
	cells := []any{level.Name, string(level.Spec.Type), none, none, none, none, since(level.CreationTimestamp, now)}
	limited := level.Spec.Limited
	if limited == nil {
		return cells
	}
	cells[2] = int64(ptr.Deref(limited.NominalConcurrencyShares, 30))
	if queuing := limited.LimitResponse.Queuing; queuing != nil {
		cells[3] = int64(cmp.Or(queuing.Queues, 64))
		cells[4] = int64(cmp.Or(queuing.HandSize, 8))
		cells[5] = int64(cmp.Or(queuing.QueueLengthLimit, 50))
	}
	return cells
}
