// Package golden compares the text that a test got with a file that people
// have read and accepted.
//
//	func TestMain(m *testing.M) { golden.Main(m) }
//
//	func TestFeed(t *testing.T) {
//		golden.Assert(t, "surge", feed(), golden.UIDs(), golden.Times())
//	}
//
// # What goes in, what comes out
//
// [Assert] takes a name and a text, as a string or as bytes, and compares the
// text with testdata/<name>.golden in the folder of the test's package. A
// slash in the name makes a folder, so the name of a sub-test serves as it is.
// A difference is an error of the test, and tells three things: go-cmp's diff,
// the file, and the one command that accepts the new text, for this test
// alone.
//
// # Accepting a text
//
// With -update or with NODESIM_UPDATE=1 in the environment, Assert writes the
// file in place of comparing, atomically, and leaves a file alone whose text is
// the same already. Where CI is set (to anything but false or 0) that is
// refused: no person reads what a build machine accepts.
//
// The flag -update is registered by [Main] or [Wrap], never by importing this
// package, so that a package which has a flag of that name keeps it: if that is
// a boolean flag, it is obeyed, with or without Main. Where there is no such
// flag (no Main, another kind of flag, flags parsed before Main), the variable
// does the same, and a failure then tells you to use it. The variable
// also suits ./..., since go test hands a flag to packages that don't know it.
//
// # What is the same text
//
// Bytes are compared, with two exceptions that belong to editors and to git: a
// final newline may be missing on either side, and a file whose every line ends
// in CRLF is read as if its lines ended in LF, unless the text itself has
// carriage returns.
//
// An empty text is never the same: a test whose subject didn't run gets one too.
// Assert reports it with and without -update; [AssertEmpty] is for a test that
// wants no text.
//
// # What varies
//
// UIDs, versions and wall times differ from run to run. A [Rule] replaces each
// value by a placeholder with a name and a number, <uid:1>, <time:2>, numbered
// by first appearance, so that a golden file still shows which ones are equal.
// This is the one place where that happens: what is compared elsewhere, or
// stored, keeps its values. [Normalize] does the same without a test.
//
// # Files that no test asserts
//
// A golden file whose test was renamed or deleted proves nothing. [Main] fails
// the package on such orphans, and judges only when every test has run and
// passed: not under -run, -skip, -short, -list or -fuzz, and not after a
// failure. Files that something else reads are named to it, and so are those of
// a test that may skip itself, since a skipped test asserts nothing.
//
// # Parts of documents
//
// [AssertPart] does the same for what is between two marks in a text that people
// write, such as a table in a manual.
//
// # What it must never do
//
// Write outside testdata, but for the part that AssertPart was given, write in CI,
// write half a file, delete a file, or touch the flags of a program that merely
// imports it. It knows nothing of nodes and imports nothing that does. All
// functions may be called from several goroutines, except Main and Wrap's Run.
package golden
