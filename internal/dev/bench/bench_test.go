//go:build bench

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
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
	flag.Parse()
	os.Exit(m.Run())
}

// fullOnly are the measurements with targets that the quick mode has with fewer clients.
var fullOnly = map[string]bool{"2000 clients, processor": true, "1000 folding clients": true}

// withPeers are the measurements with targets that need -peers.
var withPeers = map[string]bool{"1 sessions, of the C library": true, "100 sessions, of the C library": true}

// The quick mode measures every row, and every client gets each event once and in order. Figures
// are not checked.
func TestEveryRowIsMeasuredWithoutALoss(t *testing.T) {
	var out bytes.Buffer
	o := &options{Quick: true, Repeat: 1}
	if err := measureAll(t.Context(), o, selection{out: &out, json: true}); err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	measured, compared := map[string]bool{}, map[[3]string]bool{}
	for _, x := range r.Results {
		measured[x.Row] = true
		compared[[3]string{x.Row, x.Of, x.Server}] = x.Met != nil
	}
	for _, w := range rows {
		if !measured[w.name] {
			t.Errorf("no result of %q", w.name)
		}
	}
	for _, w := range targets {
		if n := [3]string{w.row, w.of, w.server}; !compared[n] && !fullOnly[n[1]] && !withPeers[n[1]] {
			t.Errorf("%v has a target and is not measured", n)
		}
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
		c := &client{source: strings.NewReader(lines), ackedAt: time.Now()}
		if err := c.readDeltas(2); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	c := &client{source: strings.NewReader(line(0) + line(1))}
	if err := c.readDeltas(2); err != nil {
		t.Error(err)
	}
}
