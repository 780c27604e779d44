package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

// options are the flags of the program.
type options struct {
	Quick  bool
	Repeat int
	Peers  bool
	Only   string // in the names of the rows
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
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.BoolVar(&o.Quick, "quick", false, "fewer events and clients: under two minutes")
	f.IntVar(&o.Repeat, "repeat", 3, "repetitions of each measurement, interleaved")
	f.BoolVar(&o.Peers, "peers", false, "measure nats-server and redis-server of PATH too")
	f.StringVar(&o.Only, "only", "", "run the rows whose name contains `TEXT`")
	dir := f.String("serve", "", "be the server with the store in `DIR`")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *dir != "" {
		return serve(*dir)
	}
	if f.NArg() > 0 || o.Repeat < 1 {
		return errors.New("no arguments, and at least one repetition")
	}
	results, err := measureAll(ctx, o)
	return errors.Join(err, results.write(os.Stdout))
}

// measureAll measures rows and returns their samples, also of a row that failed.
func measureAll(ctx context.Context, o options) (results report, err error) {
	dir, err := os.MkdirTemp("", "agentctl-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // temporary
	var failed []error
	for _, w := range rows {
		if !strings.Contains(w.name, o.Only) {
			continue
		}
		b, began := &bench{options: o, dir: dir, row: w.name}, time.Now()
		err := b.measure(ctx, w.measure)
		results = append(results, b.samples...)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", w.name, err))
		}
		fmt.Fprintf(os.Stderr, "%s: %.1f s\n", w.name, time.Since(began).Seconds())
	}
	return results, errors.Join(failed...)
}
