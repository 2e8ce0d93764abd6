// Package picture makes pictures of panels, for pages that can't play a tape.
//
// A tape and a position go in, and [Panel] returns the panel that a terminal
// shows there. That text, or any other with the colours of a terminal, goes
// into [SVG], which returns a self-contained file: no script, no font, no
// reference to anything. The same text gives the same bytes.
//
// docs/panel.svg is made here, by this package's test, which also holds it
// against the tape it was made of.
//
// # What is drawn
//
// Each word has its place and its length, so that columns stay columns whatever
// font a viewer has. Bars and the marks of nodes are shapes in place of
// characters: fonts disagree about their size, or lack them. Of a style, bold,
// faint and the colour of the text count; the ground is always dark.
//
// # What it must never do
//
// Write a character of the text as markup, or one that XML forbids. Draw beyond
// the window: what doesn't fit into its columns is cut. Panic, whatever the
// text holds.
package picture
