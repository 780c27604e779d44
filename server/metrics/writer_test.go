package metrics

import (
	"testing"
	"time"
)

func TestTheFormatHasHelpTypesAndEscapedLabels(t *testing.T) {
	var c Counter
	c.Add(3)
	v := NewVec("a", "b")
	v.Of("b").Add(2)
	v.Of("unknown").Add(1)
	var w Writer
	w.Begin(Family{"one_total", KindCounter, "First\nline, \\ too."})
	w.Sample(c.Value())
	w.Begin(Family{"sum", KindGauge, "Sum."})
	w.Labelled("text", "a\"b\\c\nd", 1.25)
	w.Begin(Family{"vec_total", KindCounter, "Values."})
	w.Vec("code", v)
	want := `# HELP one_total First\nline, \\ too.
# TYPE one_total counter
one_total 3
# HELP sum Sum.
# TYPE sum gauge
sum{text="a\"b\\c\nd"} 1.25
# HELP vec_total Values.
# TYPE vec_total counter
vec_total{code="a"} 0
vec_total{code="b"} 2
vec_total{code="other"} 1
`
	if got := string(w.Bytes()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAHistogramCountsEachDurationInTheBucketsAboveIt(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{0, 500 * time.Microsecond, 3 * time.Millisecond, time.Minute} {
		h.Observe(d)
	}
	var w Writer
	w.Begin(Family{"t_seconds", KindHistogram, "Times."})
	w.Histogram(&h)
	want := `# HELP t_seconds Times.
# TYPE t_seconds histogram
t_seconds_bucket{le="0.0005"} 2
t_seconds_bucket{le="0.001"} 2
t_seconds_bucket{le="0.0025"} 2
t_seconds_bucket{le="0.005"} 3
t_seconds_bucket{le="0.01"} 3
t_seconds_bucket{le="0.025"} 3
t_seconds_bucket{le="0.05"} 3
t_seconds_bucket{le="0.1"} 3
t_seconds_bucket{le="0.25"} 3
t_seconds_bucket{le="0.5"} 3
t_seconds_bucket{le="1"} 3
t_seconds_bucket{le="2.5"} 3
t_seconds_bucket{le="5"} 3
t_seconds_bucket{le="10"} 3
t_seconds_bucket{le="+Inf"} 4
t_seconds_sum 60.0035
t_seconds_count 4
`
	if got := string(w.Bytes()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
