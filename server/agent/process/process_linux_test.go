package process

import (
	"bufio"
	"strconv"
	"testing"
	"time"
)

func TestADescendantInAGroupOfItsOwnDoesNotOutliveTheProgram(t *testing.T) {
	escape := `setsid sh -c 'echo $$; exec sleep 100' & wait`
	for name, end := range map[string]func(*Process) error{
		"ended by its server":   func(p *Process) error { p.End(20 * time.Millisecond); return nil },
		"killed by its server":  func(p *Process) error { p.End(0); return nil },
		"ended by a later one":  func(p *Process) error { return EndGroup(t.Context(), p.Group(), time.Second) },
		"killed by a later one": func(p *Process) error { return EndGroup(t.Context(), p.Group(), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, `trap '' TERM; `+escape)
			pid, err := strconv.Atoi(readLine(t, bufio.NewReader(p.Stdout)))
			if err != nil {
				t.Fatal(err)
			}
			if err := end(p); err != nil {
				t.Fatal(err)
			}
			waitGone(t, pid)
		})
	}
}
