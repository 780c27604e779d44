package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// A measurement is what samples have in common.
type measurement struct{ row, of, server, unit string }

// A sample is one value of a measurement.
type sample struct {
	measurement
	value float64
}

// A report has the samples of all rows, in the order in which they were taken.
type report []sample

// write writes a table with the median, the least and the most of each measurement.
func (r report) write(w io.Writer) error {
	values := map[measurement][]float64{}
	var order []measurement
	for _, s := range r {
		if values[s.measurement] == nil {
			order = append(order, s.measurement)
		}
		values[s.measurement] = append(values[s.measurement], s.value)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%d cores, %s/%s, %s, %s\n\nrow\tmeasured\tserver\tmedian\tleast\tmost\tunit\n", runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, runtime.Version(), time.Now().UTC().Format(time.DateOnly))
	for _, m := range order {
		all := slices.Sorted(slices.Values(values[m]))
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.row, m.of, m.server,
			short(all[len(all)/2]), short(all[0]), short(all[len(all)-1]), m.unit)
	}
	return t.Flush()
}

// short formats a number with three significant digits.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3gM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.3gk", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}
