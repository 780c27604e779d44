package sse

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(r io.Reader) (events []string, err error) {
	x := NewReader(r)
	for {
		data, err := x.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return events, err
		}
		events = append(events, string(data))
	}
}

func TestEventsAreReadWithEveryLineEnd(t *testing.T) {
	const stream = ": comment\n\nevent: a\ndata: one\ndata:two\n\nid: 7\nevent: none\n\ndata\n\ndata: last\nretry: 1\n"
	want := []string{"one\ntwo", "", "last"}
	for _, end := range []string{"\n", "\r\n", "\r"} {
		text := strings.ReplaceAll(stream, "\n", end)
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)),
			"with a mark": strings.NewReader("\xef\xbb\xbf" + text),
		} {
			got, err := readAll(r)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q %s: %q, %v", end, name, got, err)
			}
		}
	}
}

func TestALineOfFiveMegabytesIsRead(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	got, err := readAll(strings.NewReader("data: " + long + "\n\n"))
	if err != nil || len(got) != 1 || got[0] != long {
		t.Errorf("%d events, %v", len(got), err)
	}
}

func TestAnEventOverTheBoundIsRefused(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("data: "), &repeated{'x'})
	if _, err := readAll(endless); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	lines := &repeatedText{text: []byte("data: " + strings.Repeat("y", 1<<20) + "\n")}
	if _, err := readAll(lines); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

type repeated struct{ c byte }

func (r *repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.c
	}
	return len(p), nil
}

type repeatedText struct {
	text []byte
	at   int
}

func (r *repeatedText) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

func TestAReadErrorIsReturned(t *testing.T) {
	failed := errors.New("reset")
	got, err := readAll(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(failed)))
	if !errors.Is(err, failed) || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
}

// The events of a stream do not depend on how it is cut into reads.
func FuzzReader(f *testing.F) {
	f.Add([]byte("event: a\r\ndata: {}\r\n\r\ndata: [DONE]"))
	f.Add([]byte(":\r\rdata:\r\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, err := readAll(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := readAll(iotest.OneByteReader(bytes.NewReader(b)))
		if err != nil || !slices.Equal(whole, pieces) {
			t.Errorf("%q, %q, %v", whole, pieces, err)
		}
	})
}
