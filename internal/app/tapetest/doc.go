// Package tapetest checks tapes against golden files: what their feed and their
// panel show today must be what a person has read and accepted.
//
// Paths of tapes and folders go in, a [Report] comes out. For a tape
// roll.yaml, roll.yaml.gz or roll.yaml.zst the golden files roll.feed.golden
// and roll.panel.golden are beside it; docs/golden.md says what is in them.
// A policy roll.policy.yaml (or .yml) beside it, and those of the Options, are
// what the tape is held against.
//
// It never writes anything but these two files, and those only when asked to.
// It knows nothing of flags, the environment or the program that calls it.
package tapetest
