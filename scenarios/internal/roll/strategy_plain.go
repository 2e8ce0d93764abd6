package roll

// Plain replaces nodes one after the other, or as many at a time as MaxSurge and MaxUnavailable say: a new one joins,
// an old one is cordoned, drained and terminated. It does what a script around kubectl drain does, which leaves no
// trace besides the cordon; that the node is gone the cloud controller manager finds out.
func Plain(b Base) Strategy { return b }
