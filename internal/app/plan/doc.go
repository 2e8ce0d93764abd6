// Package plan forecasts a roll for the verb: where the cluster is read from, progress, the form of the answer, and the tape of one
// run.
package plan
