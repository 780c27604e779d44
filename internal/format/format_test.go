package format

import (
	"testing"
	"time"
)

func TestPercent(t *testing.T) {
	for percent, want := range map[float64]string{
		0: "0%", 0.01: "<1%", 0.5: "<1%", 0.6: "1%", 37.5: "38%", 98.7: "99%", 99.9: "99%", 100: "100%", 104.4: "104%",
	} {
		if got := Percent(percent); got != want {
			t.Errorf("%v: got %q, want %q", percent, got, want)
		}
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "now", 59 * time.Second: "59s", 90 * time.Minute: "1h", 47 * time.Hour: "47h", 49 * time.Hour: "2d",
		5 * time.Minute: "5m",
	} {
		if got := Age(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		340 * time.Millisecond: "340ms", 1520 * time.Millisecond: "1.5s", 12 * time.Second: "12s",
		185 * time.Second: "3m05s", 130 * time.Minute: "2h10m",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	if got := Seconds(1500); got != "1.5 s" {
		t.Errorf("1500 ms: %q", got)
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64][2]string{
		1: {"1 byte", "1 B"}, 913: {"913 bytes", "913 B"}, 12 << 10: {"12 KiB", "12.0 KiB"},
		3565158: {"3.4 MiB", "3.4 MiB"}, 5 << 30: {"5120.0 MiB", "5.0 GiB"},
	} {
		if got := [2]string{Size(n), Bytes(n)}; got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestTextsAreCutBetweenRunes(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Cut("abc", 3, "…"), "abc"},
		{Cut("abcd", 3, "…"), "abc…"},
		{Cut("世界", 5, "…"), "世…"},
		{Cut("世界", 2, "…"), "…"},
		{Words("  two\nlines\tand ", 0), "two lines and"},
		{Words("世界世界世界", 3), "世界…"},
		{JoinLines("a\n\n\tb  c"), "a b  c"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
