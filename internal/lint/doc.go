// Package lint holds the rules of this repository that golangci-lint has no word for: no goroutine is started by a
// decider, and every text speaks of this project alone. In: a folder. Out: findings, each with file, line, what was
// found and what to do instead. Command house prints them for `make lint`.
//
// Its tests also prove, behind the build tag lintproof, that every arrow and every ban of .golangci.yaml fires: they
// write a module that breaks each of them and run the linter on it.
//
// The package only reads files. It must never change one.
package lint
