package replay

// Writable reports whether [Player.Transact] can write: the Player is of an
// [Engine], and not of a tape.
func (p *Player) Writable() bool { return p.engine != nil }
