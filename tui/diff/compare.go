package diff

import "strings"

// contextLines is the number of unchanged lines around a change.
const contextLines = 3

// Compare returns the changes from an old to a new text. If the old text is nil, the file is new.
func Compare(path string, oldText *string, newText string) File {
	f := File{Old: path, New: path}
	var a []string
	if oldText == nil {
		f.Old = ""
	} else {
		a = splitLines(*oldText)
	}
	b := splitLines(newText)
	ids := map[string]int{}
	inA, inB := commonElements(textIDs(a, ids), textIDs(b, ids), maxEdits)
	slideDown(a, inA, inB)
	slideDown(b, inB, inA)
	f.Hunks = makeHunks(a, b, inA, inB)
	if n := len(f.Hunks); n > 0 {
		last := &f.Hunks[n-1]
		noOldEnd, noNewEnd := oldText != nil && lacksNewline(*oldText), lacksNewline(newText)
		last.Lines = addNoNewlineNotes(last, len(a), len(b), noOldEnd, noNewEnd)
	}
	return f
}

// slideDown moves each run of lines not in common down as far as possible. A removed or added block
// then includes the blank line after it, not the end of the block before it. in marks the common
// lines of a, other has those of the other side.
func slideDown(a []string, in, other []bool) {
	k := 0 // index on the other side
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

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

func lacksNewline(s string) bool { return s != "" && !strings.HasSuffix(s, "\n") }

// textIDs maps texts to IDs, equal for equal texts.
func textIDs(texts []string, ids map[string]int) []int {
	out := make([]int, len(texts))
	for i, text := range texts {
		id, ok := ids[text]
		if !ok {
			id = len(ids)
			ids[text] = id
		}
		out[i] = id
	}
	return out
}

// makeHunks returns the changes as hunks with context lines.
func makeHunks(a, b []string, inA, inB []bool) []Hunk {
	var out []Hunk
	var h *Hunk
	same := 0 // lines since the last change
	for i, k := 0, 0; i < len(a) || k < len(b); {
		if i < len(a) && k < len(b) && inA[i] && inB[k] {
			if h != nil {
				h.Lines = append(h.Lines, Line{Context, b[k]})
			}
			if same++; h != nil && same > 2*contextLines {
				h.Lines = h.Lines[:len(h.Lines)-same+contextLines]
				h = nil
			}
			i, k = i+1, k+1
			continue
		}
		if h == nil {
			from := min(same, contextLines, k)
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
	if h != nil && same > contextLines {
		h.Lines = h.Lines[:len(h.Lines)-same+contextLines]
	}
	return out
}

const noNewline = "No newline at end of file"

// addNoNewlineNotes returns the lines of the last hunk with a note after the last line of a text
// that has no newline at its end.
func addNoNewlineNotes(h *Hunk, oldLines, newLines int, noOldEnd, noNewEnd bool) []Line {
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
		endsOld := l.Op != Added && i == oldLines && noOldEnd && (l.Op == Removed || noNewEnd)
		endsNew := l.Op == Added && k == newLines && noNewEnd
		if endsOld || endsNew {
			out = append(out, Line{Note, noNewline})
		}
	}
	return out
}
