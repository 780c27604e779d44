package screenshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// A Terminal draws the output of a program. Close it after use.
type Terminal struct {
	columns, rows int
	emulator      *vt.Emulator
	drained       chan struct{} // closed when its replies were read to the end
}

// NewTerminal returns an empty terminal.
func NewTerminal(columns, rows int) *Terminal {
	t := &Terminal{columns, rows, vt.NewEmulator(columns, rows), make(chan struct{})}
	go func() { // discard the terminal's replies
		defer close(t.drained)
		_, _ = io.Copy(io.Discard, t.emulator)
	}()
	return t
}

// Write draws output. A line feed starts a new line, as on a terminal in cooked mode.
func (t *Terminal) Write(output []byte) (int, error) {
	if _, err := t.emulator.Write(bytes.ReplaceAll(output, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, fmt.Errorf("render output: %w", err)
	}
	return len(output), nil
}

// Screen returns what the terminal shows now.
func (t *Terminal) Screen() *Screen {
	s := &Screen{Columns: t.columns, Rows: t.rows}
	for y := range t.rows {
		row := make([]uv.Cell, t.columns)
		for x := range row {
			if c := t.emulator.CellAt(x, y); c != nil {
				row[x] = *c
			}
		}
		s.cells = append(s.cells, row)
	}
	return s
}

// Close frees the terminal.
func (t *Terminal) Close() error {
	var err error
	if answers, ok := t.emulator.InputPipe().(io.Closer); ok { // Emulator.Close must not run during a read
		err = answers.Close()
	}
	<-t.drained
	if err = errors.Join(err, t.emulator.Close()); err != nil {
		return fmt.Errorf("close the terminal: %w", err)
	}
	return nil
}
