//go:build linux && soak

package soak

import (
	"flag"
	"time"
)

// options are the size of a run.
type options struct {
	Seed     uint64
	For      time.Duration // of the faults
	Sessions int
	Clients  int
	Rate     float64       // messages a second, of all clients
	Slow     int           // percent of the clients
	Cut      int           // percent of the connections, each second
	KillMean time.Duration // between kills of the server
	ACP      int           // sessions whose agent is a process
}

var flags = options{}

func init() {
	flag.Uint64Var(&flags.Seed, "seed", 0, "seed of the soak; 0: a random one")
	flag.DurationVar(&flags.For, "for", time.Minute, "time of the faults")
	flag.IntVar(&flags.Sessions, "sessions", 300, "sessions")
	flag.IntVar(&flags.Clients, "clients", 1500, "clients, of all six protocols")
	flag.Float64Var(&flags.Rate, "rate", 30, "messages a second, of all clients")
	flag.IntVar(&flags.Slow, "slow", 25, "percent of the clients that are slow")
	flag.IntVar(&flags.Cut, "cut", 5, "percent of the connections to cut each second")
	flag.DurationVar(&flags.KillMean, "kill", 20*time.Second, "mean time between kills of the server")
	flag.IntVar(&flags.ACP, "acp", 12, "sessions whose agent is a process")
}
