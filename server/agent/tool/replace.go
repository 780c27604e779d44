package tool

import (
	"errors"
	"fmt"
	"strings"
)

// blanksNote is the note for the model about a text that was not found exactly.
const blanksNote = "The file differs from old_string in trailing whitespace. It was changed anyway."

// replace replaces a text that is in a file once, or everywhere if all is set. The line ends of the
// file stay: a file with CRLF gets CRLF. note describes a difference between the text and the file.
func replace(file, old, replacement string, all bool) (result, note string, err error) {
	switch old {
	case "":
		return "", "", errors.New("old_string is empty")
	case replacement:
		return "", "", errors.New("old_string and new_string are equal: there is nothing to change")
	}
	found, with := old, replacement
	if !strings.Contains(file, found) && strings.Contains(file, "\r\n") {
		found, with = withCRLF(old), withCRLF(replacement)
	}
	if !strings.Contains(file, found) {
		from, to, err := findLines(file, old)
		if err != nil {
			return "", "", err
		}
		if strings.Contains(file[from:to], "\r\n") {
			with = withCRLF(replacement)
		}
		if !strings.HasSuffix(old, "\n") {
			to = from + len(strings.TrimRight(file[from:to], "\r\n"))
		}
		return file[:from] + with + file[to:], blanksNote, nil
	}
	if all {
		return strings.ReplaceAll(file, found, with), "", nil
	}
	i := strings.Index(file, found)
	if again := strings.Index(file[i+1:], found); again >= 0 {
		return "", "", fmt.Errorf("old_string is in the file more than once, at lines %d and %d: "+
			"give more of the text around it, or set replace_all", lineOf(file, i), lineOf(file, i+1+again))
	}
	return file[:i] + with + file[i+len(found):], "", nil
}

func withCRLF(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// lineOf returns the number of the line at a byte.
func lineOf(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }

// findLines returns the range of the lines of a file that equal the lines of a text except for
// trailing whitespace. It fails unless there is exactly one such range.
func findLines(file, text string) (from, to int, err error) {
	want := trimLines(strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
	lines := strings.SplitAfter(file, "\n")
	trimmed := trimLines(lines)
	first, at := -1, 0
	budget := maxFile
	for i := range lines {
		if i+len(want) > len(lines) {
			break
		}
		equal := true
		for j, line := range want {
			if budget--; budget < 0 {
				return 0, 0, errors.New("old_string is too costly to find: give less of the text")
			}
			if trimmed[i+j] != line {
				equal = false
				break
			}
		}
		if equal && first >= 0 {
			return 0, 0, fmt.Errorf("old_string is not in the file exactly, and without trailing whitespace it is "+
				"there twice, at lines %d and %d", first+1, i+1)
		}
		if equal {
			first, from = i, at
		}
		at += len(lines[i])
	}
	if first < 0 {
		return 0, 0, errors.New("old_string is not in the file: read the file again and give its text exactly")
	}
	return from, from + len(strings.Join(lines[first:first+len(want)], "")), nil
}

// trimLines returns lines without trailing whitespace.
func trimLines(lines []string) []string {
	trimmed := make([]string, len(lines))
	for i, line := range lines {
		trimmed[i] = strings.TrimRight(line, " \t\r\n")
	}
	return trimmed
}
