// Package bugs is a track record: published bugs of other projects' controllers around nodes, drains and watches, each
// shown again in a simulated cluster or on the tape of a scenario. docs/bugs.md lists them.
//
// There is a file for each bug. It has the smallest controller of the shape that the bug had, written anew from the
// published description, and a test that runs it twice under the same conditions: with the bug it ends in what was
// reported, mended it doesn't.
//
// In: a shipped scenario, in most cases a fault of replay/fault or scenarios/spec. Out: one line of text that says what
// came of it. The package has no code but tests, and nothing imports it.
package bugs
