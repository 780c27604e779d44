package screenshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// A Screen is a terminal's cells, as they were when a program had written all it was to write.
type Screen struct {
	Columns, Rows int
	cells         [][]uv.Cell
}

// Render is the screen of that size after a program wrote all this. As on a terminal that is not raw, a line feed begins a line.
func Render(written []byte, columns, rows int) (*Screen, error) {
	e := vt.NewEmulator(columns, rows)
	heard := make(chan struct{})
	go func() { // what the terminal answers nobody hears
		defer close(heard)
		_, _ = io.Copy(io.Discard, e)
	}()
	_, err := e.Write(bytes.ReplaceAll(written, []byte("\n"), []byte("\r\n")))
	s := &Screen{Columns: columns, Rows: rows}
	for y := range rows {
		row := make([]uv.Cell, columns)
		for x := range row {
			if c := e.CellAt(x, y); c != nil {
				row[x] = *c
			}
		}
		s.cells = append(s.cells, row)
	}
	if answers, ok := e.InputPipe().(io.Closer); ok { // the emulator's own closing is not to be done while it is read
		err = errors.Join(err, answers.Close())
	}
	<-heard
	if err = errors.Join(err, e.Close()); err != nil {
		return nil, fmt.Errorf("draw what was written: %w", err)
	}
	return s, nil
}

// Mask writes something of the same length over what the first group matches, row by row: what is another each time.
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

// Line is what stands in a row.
func (s *Screen) Line(y int) string {
	var out strings.Builder
	for x := 0; x < len(s.cells[y]); {
		n, text := run(s.cells[y][x:])
		out.WriteString(text)
		x += n
	}
	return strings.TrimRight(out.String(), " ")
}
