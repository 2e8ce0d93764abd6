package golden

import "strings"

// sameText reports whether a file holds the text, as the package comment
// defines it.
func sameText(file, got string) bool {
	return withFinalNewline(asCheckedOut(file, got)) == withFinalNewline(got)
}

// asCheckedOut undoes what git's autocrlf does to a file of lines: every LF
// has a CR before it. A text with carriage returns of its own is compared byte
// by byte.
func asCheckedOut(file, got string) string {
	if strings.Contains(got, "\r") || !strings.Contains(file, "\r\n") {
		return file
	}
	if strings.Count(file, "\r\n") != strings.Count(file, "\n") {
		return file
	}
	return strings.ReplaceAll(file, "\r\n", "\n")
}

// withFinalNewline ends a text in a newline, as editors do; an empty text
// stays empty.
func withFinalNewline(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
