// Package player is what a user sees and does at the panel of a replay: a model of Bubble Tea.
//
// In: messages, which are keys, [Shown] with the frame of this moment, and answers to what was asked for. Out: the text of
// the screen ([Model.View]), and commands whose messages say what is to be done to the tape ([Press], [Seek]) or asked
// for ([FindFindings], [WriteReport]).
//
// A Model is a value, and a function of its messages: it reads no clock, no terminal and no tape. What runs it owns
// these, and does what the commands say in their order.
package player
