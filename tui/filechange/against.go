package filechange

import (
	"strings"

	"agentctl/tui/diff"
)

// Against compares two changes of a file of a path, line by line with the marks of patches: the lines of
// left alone are removed in the result, those of right alone added. Nothing of them is left out.
func Against(path string, left, right *diff.File) diff.File {
	before := patchText(left)
	f := diff.Compare(path, &before, patchText(right))
	if len(f.Hunks) == 0 {
		f.Notes = append(f.Notes, "both changes are the same")
	}
	lines := strings.SplitAfter(before, "\n")
	lines = lines[:len(lines)-1]
	all := diff.Hunk{}
	same := func(upto int) {
		for ; len(lines) > upto; lines = lines[1:] {
			all.Lines = append(all.Lines, diff.Line{Op: diff.Context, Text: strings.TrimSuffix(lines[0], "\n")})
		}
	}
	total := len(lines)
	for _, h := range f.Hunks {
		same(total - (h.Old - 1))
		for _, l := range h.Lines {
			all.Lines = append(all.Lines, l)
			if l.Op == diff.Context || l.Op == diff.Removed {
				lines = lines[1:]
			}
		}
	}
	same(0)
	f.Hunks = []diff.Hunk{all}
	return f
}

// patchText returns the lines of a change with their marks, and what separates its hunks.
func patchText(f *diff.File) string {
	var out strings.Builder
	for i, h := range f.Hunks {
		if i > 0 {
			out.WriteString("⋯\n")
		}
		for _, l := range h.Lines {
			out.WriteByte(byte(l.Op))
			out.WriteString(l.Text + "\n")
		}
	}
	for _, note := range f.Notes {
		out.WriteString(note + "\n")
	}
	return out.String()
}
