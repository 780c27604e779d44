//go:build bench

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// TestMain lets the test binary be a server, as the program is.
func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) != "" {
		if err := run(context.Background(), os.Args[1:]); err != nil {
			_, _ = io.WriteString(os.Stderr, err.Error()+"\n")
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// The quick mode measures every row, and every client gets each event once and in order. Figures
// are not checked.
func TestEveryRowIsMeasuredWithoutALoss(t *testing.T) {
	results, err := measureAll(t.Context(), options{Quick: true, Repeat: 1})
	if err != nil {
		t.Fatal(err)
	}
	measured := map[string]bool{}
	for _, s := range results {
		measured[s.row] = true
	}
	for _, w := range rows {
		if !measured[w.name] {
			t.Errorf("no result of %q", w.name)
		}
	}
	var out strings.Builder
	if err := results.write(&out); err != nil {
		t.Error(err)
	}
	t.Log("\n" + out.String())
}

// A client that misses or repeats an event fails the measurement.
func TestALostOrRepeatedEventIsReported(t *testing.T) {
	line := func(i int) string {
		return fmt.Sprintf(`{"session":"s","seq":%d,"type":"text.delta","data":{"text":"%s"}}`+"\n", i+1, text(i))
	}
	for name, lines := range map[string]string{
		"lost": line(0) + line(2), "repeated": line(0) + line(0), "too many": line(0) + line(1) + line(2),
	} {
		c := &client{source: strings.NewReader(lines)}
		if err := c.readDeltas(2); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	c := &client{source: strings.NewReader(line(0) + line(1))}
	if err := c.readDeltas(2); err != nil {
		t.Error(err)
	}
}
