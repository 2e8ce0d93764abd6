package roll

import "github.com/nodesim/nodesim/scenarios/internal/cloud"

// interrupted is a message of the interruption queue about an instance
// (aws/karpenter-provider-aws, pkg/controllers/interruption): a notice has the
// NodeClaim deleted at once, while a replacement is looked for only when pods
// have lost their place; a recommendation is reported and nothing more.
func (k *Karpenter) interrupted(i *cloud.Instance) {
	c := k.claims[i.ID]
	if c == nil || c.object.Gone() {
		return
	}
	n := k.env.API.Node(i.Name)
	if i.Notice == 0 {
		k.publishBoth(n, c, "Normal", "SpotRebalanceRecommendation", "Spot rebalance recommendation was triggered")
		return
	}
	k.publishBoth(n, c, "Warning", "SpotInterrupted", "Spot interruption warning was triggered")
	if c.object.Terminating() {
		return
	}
	k.publish(c.about(), "Warning", "TerminatingOnInterruption", "Interruption triggered termination for the NodeClaim", "")
	if n != nil {
		k.publishBoth(n, c, "Warning", "TerminatingOnInterruption", "Interruption triggered termination for the Node")
	}
	k.reasons[c.object.UID] = "SpotInterrupted"
	k.deleteClaim(c)
}
