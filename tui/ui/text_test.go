package ui

import "testing"

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
