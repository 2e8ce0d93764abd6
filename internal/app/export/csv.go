package export

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"
)

// writeCSV writes a table as RFC 4180 has it: a line of names first, and lines that end in CR LF.
func writeCSV(w io.Writer, t *table) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	record := make([]string, len(t.columns))
	for i, c := range t.columns {
		record[i] = c.name
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for row := range t.rows {
		for i, c := range t.columns {
			record[i] = cell(c.cells[row])
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func cell(v any) string {
	switch v := v.(type) {
	case string:
		return noFormula(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return ""
}

// noFormula sets an apostrophe before a text that a spreadsheet would take for a formula, as OWASP advises
// (https://owasp.org/www-community/attacks/CSV_Injection), and before one that begins with an apostrophe, so that the text
// is there again once the first one is taken away. Tabs and line ends, which it names too, [noderoll.OneLine] has replaced.
func noFormula(s string) string {
	for _, sign := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠", "'"} {
		if strings.HasPrefix(s, sign) {
			return "'" + s
		}
	}
	return s
}
