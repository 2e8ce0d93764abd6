package roll

// Plain replaces nodes one after the other, or as many at a time as MaxSurge and
// MaxUnavailable say: a new one joins, an old one is cordoned, drained and
// terminated. It is what a script around kubectl drain does.
func Plain(b Base) Strategy { return b }
