package metrics

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// ContentType is the media type of the format.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// A Kind is the type of a family.
type Kind string

// The kinds.
const (
	KindCounter   Kind = "counter"
	KindGauge     Kind = "gauge"
	KindHistogram Kind = "histogram"
)

// A Family describes a metric.
type Family struct {
	Name string
	Kind Kind
	Help string
}

// A Writer collects metrics in the text format. The samples of a family follow its Begin.
type Writer struct {
	text   []byte
	family Family
}

// Begin starts a family.
func (w *Writer) Begin(f Family) {
	w.family = f
	w.text = append(w.text, "# HELP "+f.Name+" "+helpEscapes.Replace(f.Help)+"\n"...)
	w.text = append(w.text, "# TYPE "+f.Name+" "+string(f.Kind)+"\n"...)
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// Sample writes a value without labels.
func (w *Writer) Sample(value float64) { w.line("", "", "", value) }

// Labelled writes the value of a label.
func (w *Writer) Labelled(label, of string, value float64) { w.line("", label, of, value) }

// Vec writes every counter of v, in the order of NewVec.
func (w *Writer) Vec(label string, v *Vec) {
	for _, value := range v.values {
		w.Labelled(label, value, v.counters[value].Value())
	}
}

// Histogram writes h.
func (w *Writer) Histogram(h *Histogram) {
	count := 0.0
	for i := range h.buckets {
		le := math.Inf(1)
		if i < len(bounds) {
			le = bounds[i]
		}
		count += h.buckets[i].Value()
		w.line("_bucket", "le", format(le), count)
	}
	w.line("_sum", "", "", h.nanos.Value()/float64(time.Second))
	w.line("_count", "", "", count)
}

func (w *Writer) line(suffix, label, of string, value float64) {
	w.text = append(w.text, w.family.Name+suffix...)
	if label != "" {
		w.text = append(w.text, "{"+label+`="`+labelEscapes.Replace(of)+`"}`...)
	}
	w.text = append(append(append(w.text, ' '), format(value)...), '\n')
}

func format(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Bytes returns the text.
func (w *Writer) Bytes() []byte { return w.text }
