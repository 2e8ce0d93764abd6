// Package detach runs a program in the background, in a session of its own: what starts it hears what it says until it hides.
package detach
