// Package lint holds the rules of this repository that golangci-lint has no word for.
//
//   - Layout: layout.txt has a row for every package and what it may import; it is the one table of arrows.
//   - Deciders: what the layout marks so asks no clock, no random source, no environment, and starts no goroutine.
//   - Words: every text speaks of this project alone, in the words of the field.
//   - Dead: code, and not only a test, uses what an internal package exports.
//   - Size: no folder has more than MostFiles files.
//   - API: what public packages export is what the files of the folder api say, so that nothing that importers use goes
//     unnoticed.
//   - Released: what the last version exported, and is gone, is named in CHANGELOG.md.
//   - Commits: subjects are short and in the imperative, bodies say why.
//
// In: the files of a repository. Out: findings, each with file, line, what was found and what to do instead. Command
// house prints them for `make lint`; `go run ./internal/lint/house -size` prints the size.
//
// The tests with the build tag lintproof prove that the bans of .golangci.yaml fire: they write a module that breaks
// each of them and run the linter on it.
//
// The package only reads. It must never change a file.
package lint
