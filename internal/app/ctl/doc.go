// Package ctl moves a replay that another process serves, over the API of package
// control: what nodesim ctl does.
//
// [Load] finds the server in a kubeconfig, as nodesim serve writes it. A [Client]
// has one method a verb; each returns what the server answered. [AppendStatus] and
// [AppendStepped] say it in words.
//
// A Client never tries again: a step that was asked for twice is two steps. A
// server that isn't a replay is told apart by its answer, and nothing but the
// request was sent to it.
package ctl
