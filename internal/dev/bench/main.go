package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
)

// options are the flags of the program.
type options struct {
	Quick     bool
	Repeat    int
	AckEvents int // events in an acknowledgement; 0: by bytes and time
	Durable   bool
	Peers     bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // stop restores a signal handler, which the exit does as well
	}
}

// run runs the program with its arguments.
func run(ctx context.Context, args []string) error {
	var o options
	var s serveOptions
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.BoolVar(&o.Quick, "quick", false, "fewer events and clients: under five minutes")
	f.IntVar(&o.Repeat, "repeat", 3, "repetitions of each measurement, interleaved")
	f.IntVar(&o.AckEvents, "ack-events", 0, "acknowledge every `N` events (0: by bytes and time)")
	f.BoolVar(&o.Durable, "full", false, "sync the store at each commit")
	f.BoolVar(&o.Peers, "peers", false, "measure NATS, redis and SQLite's C library too")
	asJSON := f.Bool("json", false, "print JSON")
	only := f.String("only", "", "run the rows whose name contains `TEXT`")
	f.StringVar(&s.Kind, "serve", "", "be of the `KIND` agentctl, ring, channel, nats, redis, or an agent: acp")
	f.StringVar(&s.Dir, "dir", "", "`DIR` of the store, with -serve agentctl")
	f.BoolVar(&s.Durable, "durable", false, "sync the store at each commit, with -serve agentctl")
	f.DurationVar(&s.Unload, "unload", 0, "`TIME` until an idle session is unloaded, with -serve agentctl")
	if err := f.Parse(args); err != nil {
		return err
	}
	if s.Kind != "" {
		return serve(&s)
	}
	if f.NArg() > 0 || o.Repeat < 1 {
		return errors.New("no arguments, and at least one repetition")
	}
	return measureAll(ctx, &o, selection{out: os.Stdout, only: *only, json: *asJSON})
}

// A selection says which rows are printed where.
type selection struct {
	out  io.Writer
	only string // in the names of the rows
	json bool
}

// measureAll measures rows and prints the results, also those of a row that failed.
func measureAll(ctx context.Context, o *options, to selection) error {
	dir, err := os.MkdirTemp("", "agentctl-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // temporary
	if o.Peers {
		if err := buildPeers(ctx, dir); err != nil {
			return err
		}
	}
	var failed []error
	r := report{Machine: describeMachine(), Began: time.Now().UTC(), Quick: o.Quick}
	for _, w := range rows {
		if !strings.Contains(w.name, to.only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s …\n", w.name)
		b := &bench{options: o, dir: dir}
		began := time.Now()
		err := w.measure(ctx, b)
		b.stopAll()
		r.add(w.name, b.samples)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", w.name, err))
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %.1f s\n", w.name, time.Since(began).Seconds())
	}
	write := r.writeTable
	if to.json {
		write = r.writeJSON
	}
	return errors.Join(append(failed, write(to.out))...)
}
