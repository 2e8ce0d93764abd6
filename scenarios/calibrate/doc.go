// Package calibrate measures on tapes how long things took: the timings of a scenario, such as boot, becomeReady or
// imagePull, of a cluster of one's own.
//
// In: tapes of one provider, by their readers. Out: for each timing the number of samples, their median and 95th percentile,
// what a file of kind Timings says of them, and of the others why they stay estimates.
//
//	timeline.Reader ──Read──► Calibration ──Result──► Result ──► text, JSON, a file of kind Timings
//
// # What is a sample
//
// A sample begins and ends with changes that the tape saw happen: the position on the tape counts, since most times inside
// objects are whole seconds. An Event comes later than what it tells of, so its position is taken less the median of the
// timing eventLag, which a simulation adds again. An Event that a recorder kept for seconds, and all on a tape whose times are
// derived, are known to the second only; timings below three seconds aren't measured by those. There is no sample of objects
// that were there when the tape began, and none across a GAP.
//
// What had not ended when the tape did is known to take longer than that, and counts as such (the product-limit estimate of
// Kaplan and Meier), and so does a node that was removed before it was ready, or a machine before it had booted. Where less than 95 %
// had ended, but more than 60 %, the 95th percentile is extrapolated. A sample that several overlapping tapes of one cluster have
// counts once. A time eight times as long as the median or longer, or longer than the cube of the estimate's spread where that is
// more, tells of something that went wrong; it is counted apart.
//
// # What is made of samples
//
// From twenty samples on, the median and the 95th percentile are theirs. With fewer, the 95th percentile is at least as far
// above the median as in the estimate. With fewer than five, the estimate's median counts as one more sample.
//
// The speed of a machine, which a simulation draws for each node (model.DrawFactor), is in the samples and comes on top again: a
// 95th percentile grows by a few percent.
//
// # What the package must never do
//
// Nothing here reads a clock, a file or a cluster, and no tape is trusted: what a message says is parsed within bounds, and names
// of a tape are never shown.
//
// Its API may still change (docs/stability.md).
package calibrate
