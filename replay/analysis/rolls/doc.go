// Package rolls finds the rolls on a tape: the events of a tape go in, line by line, and the rolls of its node groups come
// out, and those of the pods that its header's scope names.
//
// It puts together only the nodes, and takes events with whole objects as well as those of a Reader with timeline.Lines or
// with patches, so that a tape of a gigabyte takes seconds. It never reads what the tape doesn't show: a roll has the first
// and last moment that its group's feed tells of.
//
// Its API may still change (docs/stability.md).
package rolls
