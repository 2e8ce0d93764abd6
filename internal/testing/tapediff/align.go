package tapediff

// What a row of an alignment says.
const (
	same  = ' '
	onlyA = '-'
	onlyB = '+'
)

// A row is one step of two aligned tracks.
type row struct {
	mark rune
	a, b Step
}

// mostAligned bounds the table of an alignment; longer tracks are set side by side from their beginning.
const mostAligned = 1000

// align sets equal steps side by side: as many as there can be, in order.
func align(a, b []Step) []row {
	if len(a) > mostAligned || len(b) > mostAligned {
		return sideBySide(a, b)
	}
	// longest[i][j] is the number of steps of a[i:] and b[j:] that can be paired.
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i].What == b[j].What {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var rows []row
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i].What == b[j].What:
			rows = append(rows, row{mark: same, a: a[i], b: b[j]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && longest[i+1][j] >= longest[i][j+1]:
			rows = append(rows, row{mark: onlyA, a: a[i]})
			i++
		default:
			rows = append(rows, row{mark: onlyB, b: b[j]})
			j++
		}
	}
	return rows
}

func sideBySide(a, b []Step) []row {
	var rows []row
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && a[i].What == b[i].What {
			rows = append(rows, row{mark: same, a: a[i], b: b[i]})
			continue
		}
		if i < len(a) {
			rows = append(rows, row{mark: onlyA, a: a[i]})
		}
		if i < len(b) {
			rows = append(rows, row{mark: onlyB, b: b[i]})
		}
	}
	return rows
}
