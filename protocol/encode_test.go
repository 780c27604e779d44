package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestEveryByteThatNeedsAnEscapeIsFound(t *testing.T) {
	for first := range 256 {
		c := byte(first)
		plain := c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\'
		for at := range 20 {
			for _, fill := range []string{" ", "~", "!", "#", "[", "]"} { // in addition to the bytes with an escape
				b := []byte(strings.Repeat(fill, 24))
				b[at] = c
				want := len(b)
				if !plain {
					want = at
				}
				if got := plainBytes(string(b)); got != want {
					t.Fatalf("%q: %d bytes, want %d", b, got, want)
				}
			}
		}
	}
	for n := range 40 {
		for _, pair := range []string{"\n\"", "\"\\", "\x00\x00", "\u00e9\\", "\x1f\x20"} {
			if s := strings.Repeat("a", n) + pair; plainBytes(s) != n {
				t.Errorf("%q: %d bytes, want %d", s, plainBytes(s), n)
			}
		}
	}
}

func TestTimesOfEventsHaveMilliseconds(t *testing.T) {
	east := time.FixedZone("", 2*3600)
	for _, at := range []time.Time{
		{},
		time.Unix(0, 0), time.Date(2026, 11, 23, 8, 59, 59, 999_999_999, time.UTC),
		time.Date(2026, 1, 2, 0, 4, 5, 6e6, east), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		time.Date(12026, 1, 2, 3, 4, 5, 70e6, time.UTC), time.Date(-1, 1, 2, 3, 4, 5, 1, time.UTC),
	} {
		if got, want := string(appendTime(nil, at)), at.UTC().Format(TimeFormat); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestADeltaIsEncodedAsItsData(t *testing.T) {
	for _, d := range []Delta{
		{"p\"1", KindText, "a\nb"},
		{"p", KindReasoning, strings.Repeat("\\", 100)},
		{"c", KindInput, "{}"},
		{"c", KindOutput, "\u2028é"},
	} {
		e := Event{Type: d.Type(), Data: d.AppendJSON(nil)}
		if got, ok := e.Delta(); !ok || got != d || !json.Valid(e.Data) {
			t.Errorf("%+v became %s %s", d, e.Type, e.Data)
		}
		var data any = PartDeltaData{d.Part, d.Text}
		switch d.Kind {
		case KindInput:
			data = ToolInputData{Tool: d.Part, Text: d.Text}
		case KindOutput:
			data = ToolOutputData{Tool: d.Part, Text: d.Text}
		}
		if want := MustEncode(data); string(e.Data) != string(want) {
			t.Errorf("%s, want %s", e.Data, want)
		}
	}
	if typ := (Delta{Kind: "other"}).Type(); typ != "" {
		t.Errorf("an unknown kind is of the type %q", typ)
	}
}

func BenchmarkAppendString(b *testing.B) {
	for name, s := range map[string]string{
		"prose": strings.Repeat("token ", 14), "code": strings.Repeat("\tif err != nil {\n\t\treturn \"x\"\n\t}\n", 40),
		"Chinese": strings.Repeat("\u4f60\u597d\uff0c", 30),
	} {
		b.Run(fmt.Sprint(name, "/", len(s)), func(b *testing.B) {
			var buf []byte
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				buf = AppendString(buf[:0], s)
			}
		})
	}
}
