package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A sample is one measurement of a server.
type sample struct {
	of     string // what was measured
	server string
	unit   string
	value  float64
}

// A result is the median of the samples of one measurement.
type result struct {
	Row    string  `json:"row"`
	Of     string  `json:"of"`
	Server string  `json:"server"`
	Unit   string  `json:"unit"`
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
	Ratio  float64 `json:"ratio,omitempty"` // of the median to that of the ring
	Target string  `json:"target,omitempty"`
	Met    *bool   `json:"met,omitempty"` // with a target
}

// A report holds all results.
type report struct {
	Machine string    `json:"machine"`
	Began   time.Time `json:"began"`
	Quick   bool      `json:"quick"`
	Results []result  `json:"results"`
}

// add adds the results of a row's samples, in their order.
func (r *report) add(row string, samples []sample) {
	first := len(r.Results)
	values := map[sample][]float64{}
	var order []sample
	for _, s := range samples {
		value := s.value
		s.value = 0
		if values[s] == nil {
			order = append(order, s)
		}
		values[s] = append(values[s], value)
	}
	for _, s := range order {
		all := slices.Sorted(slices.Values(values[s]))
		r.Results = append(r.Results, result{
			Row: row, Of: s.of, Server: s.server, Unit: s.unit,
			Median: all[len(all)/2], Least: all[0], Most: all[len(all)-1],
		})
	}
	added := r.Results[first:]
	for i := range added {
		for _, ring := range added {
			if ring.Server == "ring" && ring.Of == added[i].Of && added[i].Server != "ring" && ring.Median > 0 {
				added[i].Ratio = added[i].Median / ring.Median
			}
		}
	}
	compare(added)
}

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r *report) writeTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s, %s\n\nrow\tmeasured\tserver\tmedian\tleast\tmost\tunit\tof the ring\ttarget\tmet\n",
		r.Machine, r.Began.Format(time.DateOnly))
	for _, x := range r.Results {
		ratio, met := "", ""
		if x.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", x.Ratio)
		}
		if x.Met != nil {
			met = map[bool]string{true: "yes", false: "no"}[*x.Met]
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", x.Row, x.Of, x.Server,
			short(x.Median), short(x.Least), short(x.Most), x.Unit, ratio, x.Target, met)
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
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}

// describeMachine describes the processor and the system.
func describeMachine() string {
	cpu := "unknown processor"
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(load), " ")
	return fmt.Sprintf("%s, %d cores, %s/%s, %s, load %s", cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		runtime.Version(), first)
}
