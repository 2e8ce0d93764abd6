// Command nodesim records the roll of a group of Kubernetes nodes, replays it, and pins down what tools say about it.
// `nodesim --help` tells the rest. Its verbs are in package app.
package main

import "github.com/nodesim/nodesim/cmd/nodesim/app"

func main() { app.Main() }
