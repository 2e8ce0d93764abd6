package rawjson

// Skip returns the offset after the value that begins at raw[i].
func Skip(raw []byte, i int) int { return skip(raw, i) }
