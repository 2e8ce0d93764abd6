// Package record makes a recording that a user looks at: it joins a
// recorder with the file that it writes, with the question whether the roll is
// over, and with a status line for people.
//
// What goes in: a recorder.Config without an output, a file name, and where to
// write about the progress. What comes out: the tape, and the recorder's
// Summary.
//
// It never touches a tape that exists unless asked to append, and a tape that
// couldn't be resumed is left as it was.
package record
