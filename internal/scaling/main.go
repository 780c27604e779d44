package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

// measured are the costs of docs/scaling.md.
var measured = Costs{
	Append: 27e-6, Deliver: 12e-6, Attach: 320e-6, Load: 1e-3,
	Session: 23e3, Client: 40e3, Stored: 32, Wire: 230,
}

// machine is a common one: 8 cores, 32 GB, 10 Gbit/s, 1 TB.
var machine = Machine{
	Cores: 8, Memory: 32e9, Network: 1.25e9, Files: 500e3, Writes: 40e3, Disk: 1e12,
}

// full is the use above which a resource has no room for bursts.
const full = 0.7

func main() {
	if err := command(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scaling:", err)
		os.Exit(1)
	}
}

// command runs the program with its arguments.
func command(args []string, out io.Writer) error {
	s := Simulation{Costs: measured, Machine: machine, Seed: 1}
	f := flag.NewFlagSet("scaling", flag.ContinueOnError)
	f.IntVar(&s.Machines, "machines", 0, "`NUMBER` of machines (0: 1, 2, 5 and so on, until none is full)")
	f.IntVar(&s.Sessions, "sessions", 100_000, "`NUMBER` of sessions")
	f.IntVar(&s.Clients, "clients", 1_000_000, "`NUMBER` of clients")
	f.Float64Var(&s.Skew, "skew", 0, "of clients over sessions: the i-th has 1/i^`SKEW` of the first")
	f.Float64Var(&s.Turn, "turn", 60, "`SECONDS` of a turn")
	f.Float64Var(&s.Pause, "pause", 540, "`SECONDS` between turns")
	f.Float64Var(&s.Rate, "rate", 30, "`EVENTS` a second of a turn")
	f.Float64Var(&s.Fold, "fold", 0, "`SECONDS` for which clients let events be folded")
	f.Float64Var(&s.Agent, "agent", 0, "`BYTES` of memory of an agent's process (0: it runs in the server)")
	days := f.Float64("days", 30, "`DAYS` for which events are kept")
	f.IntVar(&s.Seconds, "seconds", 120, "simulated `SECONDS`")
	shared := f.Bool("shared", false, "one store for all machines, of 1,000,000 events a second and 100 TB")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || s.Machines < 0 || s.Sessions < 1 || s.Clients < 0 || s.Seconds < 4 {
		return fmt.Errorf("invalid arguments; see -help")
	}
	s.Keep = *days * 86400
	s.Failure = Failure{At: s.Seconds / 2, Until: s.Seconds/2 + 30}
	if *shared {
		s.Shared = &Store{Writes: 1e6, Disk: 100e12}
	}
	counts := []int{1, 2, 5, 10, 20, 50, 100, 200}
	if s.Machines > 0 {
		counts = []int{s.Machines}
	}
	return s.table(out, counts)
}

// table writes the results for numbers of machines, until no resource is full.
func (s *Simulation) table(out io.Writer, counts []int) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "machines\t")
	for _, of := range resources {
		fmt.Fprintf(t, "%s\t", of)
	}
	fmt.Fprint(t, "first\twaits, s\tlost sessions\trecovered, s\t\n")
	for _, n := range counts {
		s.Machines = n
		r := s.Run()
		fmt.Fprintf(t, "%d\t", n)
		for _, of := range resources {
			fmt.Fprintf(t, "%.2f\t", r.Use[of])
		}
		fmt.Fprintf(t, "%s\t%.1f\t%d\t%d\t\n", r.Bottleneck, r.Delay, r.Unavailable, r.Recovered)
		if r.Use[r.Bottleneck] < full {
			break
		}
	}
	return t.Flush()
}
