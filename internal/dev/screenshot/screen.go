package screenshot

import (
	"errors"
	"regexp"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// A Screen holds the cells of a terminal after a program's output.
type Screen struct {
	Columns, Rows int
	cells         [][]uv.Cell
}

// Render returns the screen of a terminal of that size after the output.
func Render(output []byte, columns, rows int) (*Screen, error) {
	t := NewTerminal(columns, rows)
	_, err := t.Write(output)
	s := t.Screen()
	if err = errors.Join(err, t.Close()); err != nil {
		return nil, err
	}
	return s, nil
}

// Mask overwrites the first group of each match with the repeated text as, row by row. Use it for
// text that differs between runs.
func (s *Screen) Mask(like *regexp.Regexp, as string) {
	for _, row := range s.cells {
		line := make([]byte, len(row))
		for x := range row {
			line[x] = ' '
			if c := row[x].Content; len(c) == 1 {
				line[x] = c[0]
			}
		}
		for _, at := range like.FindAllSubmatchIndex(line, -1) {
			for x := at[2]; x < at[3]; x++ {
				row[x].Content = string(as[(x-at[2])%len(as)])
			}
		}
	}
}

// Line returns the text of a row without trailing spaces.
func (s *Screen) Line(y int) string {
	var out strings.Builder
	for x := 0; x < len(s.cells[y]); {
		n, text := run(s.cells[y][x:])
		out.WriteString(text)
		x += n
	}
	return strings.TrimRight(out.String(), " ")
}
