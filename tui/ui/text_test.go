package ui

import "testing"

func TestPercent(t *testing.T) {
	for percent, want := range map[float64]string{
		0: "0%", 0.01: "<1%", 0.5: "<1%", 0.6: "1%", 37.5: "38%", 98.7: "99%", 99.9: "99%", 100: "100%", 104.4: "104%",
	} {
		if got := Percent(percent); got != want {
			t.Errorf("%v: got %q, want %q", percent, got, want)
		}
	}
}

func TestFitLeft(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"/a/b", 4, "/a/b"}, {"/a/b", 3, "…/b"}, {"/a/漢字", 4, "…字"}, {"/a/b", 1, "…"}, {"", 3, ""},
	} {
		if got := FitLeft(c.text, c.width); got != c.want {
			t.Errorf("%q in %d cells: got %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
