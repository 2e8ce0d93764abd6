package phrase

import "strings"

// Far holds what [Distance] says of words that it doesn't compare, and the most
// that it says at all.
const Far = 64

// Closest returns the one of the candidates that word was meant to be, or "".
// Case counts for nothing, a beginning of three letters counts as near, and
// of two that are equally near the first one wins.
func Closest(word string, candidates []string) string {
	best, least := "", Near(word)+1
	lower := strings.ToLower(word)
	for _, c := range candidates {
		candidate := strings.ToLower(c)
		d := Distance(lower, candidate)
		if len(word) > 2 && strings.HasPrefix(candidate, lower) {
			d = min(d, 1)
		}
		if d < least {
			best, least = c, d
		}
	}
	return best
}

// Near is the number of letters that may be wrong in a word that one still recognises: a
// third of them, and one at the least.
func Near(word string) int { return max(1, len(word)/3) }

// Distance counts the letters to insert, delete, replace or swap with the next
// one, no letter twice (Damerau and Levenshtein's distance, restricted), by
// bytes. It is Far where it isn't less, or where a word is longer than that.
func Distance(a, b string) int {
	if a == b {
		return 0
	}
	if len(a) > Far || len(b) > Far {
		return Far
	}
	var before, row, next [Far + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
