package render

import "strings"

// title is the first line: what is shown, of which group, from where.
func (p *painter) title() row {
	title := p.clean(p.frame.Title)
	if title == "" {
		title = "nodesim"
	}
	left := row{{inkStrong, title}}
	if group := p.clean(p.frame.Nodegroup); group != "" {
		what := "  rolling "
		if p.sameImage() {
			what = "  group "
		}
		left = append(left, span{inkDim, what}, span{inkText, group})
	}
	return spread(left, row{{inkDim, p.clean(p.frame.Server)}}, p.width)
}

// sameImage reports whether nodes come and go without a new image: that is no roll
// from one to another, but a loss or a change of size.
func (p *painter) sameImage() bool {
	return p.frame.FromImage != "" && p.frame.FromImage == p.frame.ToImage
}

// images is the line of what is replaced by what.
func (p *painter) images() row {
	from, to := p.clean(p.frame.FromImage), p.clean(p.frame.ToImage)
	if p.sameImage() && strings.TrimSpace(from) != "" {
		return row{{inkDim, strings.TrimSpace(cutMiddle(from, p.width, p.ellipsis))}}
	}
	// Each image may take half of the line; what one leaves, the other gets.
	room := p.width - cells(p.arrow) - 2
	half := max(room/2, 1)
	fromWidth, toWidth := cells(from), cells(to)
	switch {
	case fromWidth+toWidth <= room:
	case fromWidth <= half:
		toWidth = room - fromWidth
	case toWidth <= half:
		fromWidth = room - toWidth
	default:
		fromWidth, toWidth = half, room-half
	}
	from, to = cutMiddle(from, fromWidth, p.ellipsis), cutMiddle(to, toWidth, p.ellipsis)
	var r row
	if from != "" {
		r = append(r, span{inkDim, from + " "})
	}
	r = append(r, span{inkDim, p.arrow})
	if to != "" {
		r = append(r, span{inkText, " " + to})
	}
	return r
}

// progress is the bar of the roll and its numbers. Where there is no room for
// both, the numbers stay.
func (p *painter) progress() row {
	desired := p.frame.Desired
	if desired <= 0 {
		desired = p.counts.total
	}
	done := replaced(desired, p.counts.off)
	state := p.outcome()
	numbers := row{
		{inkStrong, number(done) + "/" + number(desired) + " replaced"},
		{inkText, "   "},
		{inkReady, number(p.counts.readyNew)}, {inkText, " new ready"},
	}
	if p.frame.Pods {
		done, desired = p.podCounts.Updated, p.podCounts.Total
		numbers = row{{inkStrong, number(done) + "/" + number(desired) + " updated"}}
	}
	if len(state) > 0 {
		numbers = append(append(numbers, span{inkText, "   "}), state...)
	}
	const leastBar = 8
	width := p.width - numbers.cells() - 3
	if width < leastBar {
		return numbers
	}
	of := inkReady
	if p.frame.Failed != "" {
		of = inkAlarm
	}
	return append(append(p.bar(of, done, desired, width), span{inkText, "   "}), numbers...)
}

// outcome returns how the roll ended, or what holds it up.
func (p *painter) outcome() row {
	switch {
	case p.frame.Failed != "":
		return row{{inkAlarm, p.failed + " failed: " + cut(p.clean(p.frame.Failed), p.width/2, p.ellipsis)}}
	case p.complete():
		return row{{inkReady, p.done + " complete"}}
	case p.frame.Pods && p.podCounts.Failed > 0:
		return row{{inkAlarm, p.warn + " stuck"}}
	case len(p.frame.Blocked) > 0:
		return row{{inkAlarm, p.warn + " blocked"}}
	}
	return nil
}

// complete reports whether the roll is over and hasn't failed.
func (p *painter) complete() bool {
	switch {
	case p.frame.Failed != "":
		return false
	case p.frame.Pods:
		return p.podCounts.Complete()
	}
	return !p.frame.Rolling && p.frame.Snapshot.Complete()
}

// heading names a section and what it holds.
func (p *painter) heading(name string, count int) row {
	return row{{inkDim, strings.ToUpper(name) + " "}, {inkText, number(count)}}
}
