// Package ui turns a tape into what people see of it: the lines of its feed,
// or the frames of a panel.
//
// A [View] follows the events of a tape and knows at any time what a panel
// shows. A [Driver] hands a View's entries, and its frames, to a [Sink], such
// as a [FeedWriter]. Three ways lead through a tape: [Through] reads it as fast
// as it can, [Follow] as it grows, [Paced] plays it at a pace. [OnTerminal] is
// Paced with a screen that is repainted and keys that move the tape. A [Show]
// follows a Player that others move as well.
//
// The same tape gives the same entries and frames on every way: pace decides
// when they are shown, never which or in which order. Moments decide: what
// happens at one position of the tape is one frame, and only where the feed has
// something to say.
//
// The package never writes to a tape or a cluster, and nothing of a tape
// reaches a writer but through noderoll's forms of an entry and package render.
package ui
