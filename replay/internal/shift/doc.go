// Package shift moves the times inside of a tape's objects to the present, so
// that a client which shows ages, or a server which compares times with its
// own, takes a replay for something that happens now.
//
// What goes in: an object as it is on the tape, and where the tape stands
// in wall time (when its clock was at zero, the map of positions to wall time,
// and what time it is). What comes out: the object with the times of known
// fields moved; [timeline.MoveTimes] knows the fields.
//
// Two promises hold whatever the pace does meanwhile. No time that comes out
// lies in the future. And a time of the tape that has come out once comes out
// the same ever after: otherwise an object would change each time that a user
// pauses the tape or changes its speed. While the tape continues at a pace, times
// that it has reached keep their order as well.
//
// It never takes a text for a time by its look, reads no clock of its own, and
// changes nothing that it was given.
package shift
