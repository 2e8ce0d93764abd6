package render

// status is the last line: where on the tape, at which pace, and what the keys
// do; or, of a cluster, for how long it has been watched.
func (p *painter) status() row {
	f := p.frame
	left := p.state()
	left = append(left, span{inkText, "  " + clock(f.Position)})
	if f.Stale != "" {
		left = append(left, span{inkAlarm, "  " + p.warn + " stale: " + cut(p.clean(f.Stale), p.width/2, p.ellipsis)})
	}
	right := row{{inkDim, p.clean(f.Hint)}}
	if f.Duration <= 0 || f.Live {
		return spread(left, right, p.width)
	}
	end := span{inkDim, clock(f.Duration)}
	const least, most = 10, 40
	width := min(most, p.width-left.cells()-right.cells()-cells(end.text)-4)
	if width < least {
		return spread(append(left, span{inkDim, " / "}, end), right, p.width)
	}
	left = append(left, span{inkText, " "})
	// Milliseconds are fine enough for a bar and far from overflow.
	left = append(left, p.bar(inkText, int(f.Position.Milliseconds()), int(f.Duration.Milliseconds()), width)...)
	return spread(append(left, span{inkText, " "}, end), right, p.width)
}

// state returns what the player, or the watch, is doing.
func (p *painter) state() row {
	f := p.frame
	speed := p.clean(f.Speed)
	switch {
	case f.Live && f.Stale != "":
		return row{{inkAlarm, p.live + " live"}}
	case f.Live:
		return row{{inkReady, p.live}, {inkText, " live"}}
	case f.Paused:
		return row{{inkDrain, p.pause + " paused"}, {inkDim, spaced(speed)}}
	case f.Duration > 0 && f.Position >= f.Duration && f.Failed != "":
		return row{{inkAlarm, p.theme.failed}, {inkText, " end"}}
	case f.Duration > 0 && f.Position >= f.Duration && p.complete():
		return row{{inkReady, p.theme.done}, {inkText, " end"}}
	case f.Duration > 0 && f.Position >= f.Duration: // of the tape, in the middle of a roll or of none
		return row{{inkDim, p.theme.other}, {inkText, " end"}}
	case speed == "":
		return row{{inkText, p.play}}
	}
	return row{{inkText, p.play + " " + speed}}
}

func spaced(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}
