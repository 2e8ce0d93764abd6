// Package daemon is a recorder that is always there: it records all the time, keeps the last minutes, and makes the tape of a
// roll when something has happened to nodes, with what led to it. Nobody announces the roll.
//
// What goes in: a recorder.Config, a folder, and what is long. What comes out, in that folder:
//
//   - history: the recording, in pieces, each with the whole state of the cluster at its beginning. A piece that no roll
//     needs goes when it is older than Options.Before.
//   - tapes: for each roll of a group NAME.yaml.zst and NAME.json, a store.Tape. Both are renamed when they are final, the tape
//     first.
//
// The pieces are the daemon's only state. What it was at when it was killed it learns by reading them again: package trigger
// finds the same rolls in the same lines. It then watches on from the version of the last line, and where the API
// server has forgotten that, there is a GAP. Pieces of one epoch are without a pause: each ends where the next one begins. A
// recording that can't go on with the last piece begins an epoch; the rolls of the former one get their tapes as interrupted. A roll
// that is on when an epoch begins has a tape from there on, which says at its beginning that something is missing before it ([MarkMissing]).
//
// The tape of a roll holds all that was recorded while it was on, not just its group: budgets and pods know no groups. It is made
// from the pieces when the roll is over, so that a roll costs the recording nothing, and what is on a tape was on the disk before.
//
// The package must never change anything in the cluster.
//
// Its API may still change (docs/stability.md).
package daemon
