package main

import "slices"

// distanceLast moves the distance of "ctl seek -30s" after a "--", where it isn't
// taken for flags. Every other command line stays as it is.
func distanceLast(args []string) []string {
	seek := slices.Index(args, "seek")
	if seek < 1 || !slices.Contains(args[:seek], "ctl") || slices.Contains(args, "--") {
		return args
	}
	for i := seek + 1; i < len(args); i++ {
		if word := args[i]; len(word) > 1 && word[0] == '-' && (word[1] >= '0' && word[1] <= '9' || word[1] == '.') {
			moved := append(slices.Clone(args[:i]), args[i+1:]...)
			return append(moved, "--", word)
		}
	}
	return args
}
