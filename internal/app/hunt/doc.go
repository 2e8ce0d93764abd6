// Package hunt is what `nodesim hunt` calls: a scenario, or a cluster that was read, and policies by their names go in, a search of
// package scenarios/hunt runs on all cores with a line that says how far it is, and what it finds is written: a scenario file and its tape.
package hunt
