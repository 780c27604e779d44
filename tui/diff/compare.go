package diff

import "strings"

// around is how many lines without a change show before and after one.
const around = 3

// Compare is what changes from one text to another. A nil old one is a file that
// is made.
func Compare(path string, old *string, text string) File {
	f := File{Old: path, New: path}
	var a []string
	if old == nil {
		f.Old = ""
	} else {
		a = lines(*old)
	}
	b := lines(text)
	ids := map[string]int{}
	inA, inB := alike(numbered(a, ids), numbered(b, ids), most)
	slide(a, inA, inB)
	slide(b, inB, inA)
	f.Hunks = hunks(a, b, inA, inB)
	if n := len(f.Hunks); n > 0 {
		last := &f.Hunks[n-1]
		last.Lines = withoutEnd(last, len(a), len(b), old != nil && unended(*old), unended(text))
	}
	return f
}

// slide moves stretches that only one side has down as far as they go, so that
// what is removed or added is a block with the blank line behind it, and not the
// end of one and the begin of the next.
func slide(a []string, in, other []bool) {
	k := 0 // in the other side
	for i := 0; i < len(a); {
		if in[i] {
			for k < len(other) && !other[k] {
				k++
			}
			i, k = i+1, k+1
			continue
		}
		end := i
		for end < len(a) && !in[end] {
			end++
		}
		for ; k < len(other) && other[k] && end < len(a) && in[end] && a[i] == a[end]; k++ {
			in[i], in[end] = true, false
			i, end = i+1, end+1
		}
		i = end
	}
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

func unended(s string) bool { return s != "" && !strings.HasSuffix(s, "\n") }

// numbered gives equal lines equal numbers.
func numbered(lines []string, ids map[string]int) []int {
	out := make([]int, len(lines))
	for i, line := range lines {
		id, ok := ids[line]
		if !ok {
			id = len(ids)
			ids[line] = id
		}
		out[i] = id
	}
	return out
}

// hunks are the stretches that differ, with the lines around them.
func hunks(a, b []string, inA, inB []bool) []Hunk {
	var out []Hunk
	var h *Hunk
	same := 0 // lines since the last change
	for i, k := 0, 0; i < len(a) || k < len(b); {
		if i < len(a) && k < len(b) && inA[i] && inB[k] {
			if h != nil {
				h.Lines = append(h.Lines, Line{Context, b[k]})
			}
			if same++; h != nil && same > 2*around {
				h.Lines = h.Lines[:len(h.Lines)-same+around]
				h = nil
			}
			i, k = i+1, k+1
			continue
		}
		if h == nil {
			from := min(same, around, k)
			out = append(out, Hunk{Old: i - from + 1, New: k - from + 1})
			h = &out[len(out)-1]
			for _, line := range b[k-from : k] {
				h.Lines = append(h.Lines, Line{Context, line})
			}
		}
		same = 0
		if i < len(a) && !inA[i] {
			h.Lines = append(h.Lines, Line{Removed, a[i]})
			i++
		} else {
			h.Lines = append(h.Lines, Line{Added, b[k]})
			k++
		}
	}
	if h != nil && same > around {
		h.Lines = h.Lines[:len(h.Lines)-same+around]
	}
	return out
}

const noEnd = "No newline at end of file"

// withoutEnd says where a text has no line break at its end.
func withoutEnd(h *Hunk, oldLines, newLines int, old, text bool) []Line {
	var out []Line
	i, k := h.Old-1, h.New-1
	for _, l := range h.Lines {
		out = append(out, l)
		if l.Op != Added {
			i++
		}
		if l.Op != Removed {
			k++
		}
		if l.Op != Added && i == oldLines && old && (l.Op == Removed || text) || l.Op != Removed && k == newLines && text && l.Op == Added {
			out = append(out, Line{Note, noEnd})
		}
	}
	return out
}
