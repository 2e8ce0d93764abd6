// Package terminal takes and gives back the terminal of this process: its keys, its screen, and what standard error
// has to hold while a panel is painted.
//
// In: files that may be terminals, signals. Out: keys ([ReadKeys]), a size ([Size]), and [Hold], which suspends and
// resumes everything that is [Suspendable] as the shell's job control asks for (SIGTSTP, SIGCONT).
//
// It paints nothing; internal/ui/render does. Where a platform has no terminal settings, no keys are read.
package terminal
