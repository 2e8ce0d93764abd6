package timeline

import "strconv"

// plural says a number of lines.
func plural(n int) string {
	if n == 1 {
		return "1 line"
	}
	return strconv.Itoa(n) + " lines"
}
