// Package process runs programs that must not outlive the one that starts them.
//
// In: a folder, names, paths of binaries, arguments. Out: a [Group] of running programs, each with a log in logs/ and
// its pid in run/, and errors that show the last lines of the log of a program that ended by itself.
//
// [Group.Close] ends all of them, the last one first, reaps them and removes the folder. Where no Close is called,
// because this program was killed or crashed, the watchdog does it: a shell that waits for its standard input to end.
// NODESIM_KEEP=1 in the environment keeps the folder in all cases, for its logs, with a file "kept" in it, by which
// [Sweep] knows it later.
//
// A program is in a process group of its own, so that a ctrl-c at the terminal reaches this program alone, which
// passes it on in the right order. The package needs a Unix.
//
// It must never end a process that it didn't start.
package process
