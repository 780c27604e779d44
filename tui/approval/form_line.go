package approval

// formLine is a line of a form and the row that it belongs to.
type formLine struct {
	text string
	row  formRow
	gap  bool // an empty line, left out if there is no room
}

// withoutGaps returns lines without the gaps, and the index of the line at.
func withoutGaps(lines []formLine, at int) (out []formLine, index int) {
	for i, line := range lines {
		if i == at {
			index = len(out)
		}
		if !line.gap {
			out = append(out, line)
		}
	}
	return out, index
}
