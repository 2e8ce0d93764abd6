// Command hostile reads tapes of hostile shapes with each of this module's
// readers, sends hostile bodies to a replay that takes writes, and leaves behind how often each block of code ran: its test builds
// it with coverage counters, runs every shape at two sizes and holds the
// counts side by side. What is linear runs four times as often on a tape four
// times as long, on any machine and however busy it is; a loop within a loop
// runs sixteen times as often.
//
// shapes.go has the tapes, readers.go the readers and bodies.go what is sent. A new reader, or a new
// index whose worst case a tape could ask for, gets its line there.
//
// Work of the standard library isn't counted (moving a slice's rest along, for
// one); what is allocated is.
package main
