package main

import "math"

// Costs are what sessions, clients and events cost a server.
type Costs struct {
	Append  float64 // processor seconds of an event, from the agent to the store
	Deliver float64 // processor seconds of an event at one client
	Attach  float64 // processor seconds of a client that connects and catches up
	Load    float64 // processor seconds of a session that is loaded from the store
	Session float64 // bytes of memory of a session
	Client  float64 // bytes of memory of a client
	Agent   float64 // bytes of memory of the process of an agent, during a turn
	Stored  float64 // bytes of an event in the store
	Wire    float64 // bytes of an event on the way to one client
}

// A Machine is what one machine has.
type Machine struct {
	Cores   float64
	Memory  float64 // bytes
	Network float64 // bytes a second
	Files   float64 // open files
	Writes  float64 // events a second that its store takes
	Disk    float64 // bytes
}

// A Load is what users and agents do.
type Load struct {
	Sessions int
	Clients  int
	Skew     float64 // of clients over sessions: the i-th has 1/i^Skew of the first; 0: evenly
	Turn     float64 // seconds of a turn, on average; 0: no session has one
	Pause    float64 // seconds between turns, on average; 0: every session always has a turn
	Rate     float64 // events a second of a turn
	Fold     float64 // seconds for which a client's events are folded into one; 0: not
	Keep     float64 // seconds for which events are kept
}

// deliveries returns the messages a second to a client of a session that has a turn.
func (l *Load) deliveries() float64 {
	if l.Fold > 0 {
		return min(l.Rate, 1/l.Fold)
	}
	return l.Rate
}

// share returns the mean share of sessions that have a turn.
func (l *Load) share() float64 {
	if l.Turn == 0 {
		return 0
	}
	return l.Turn / (l.Turn + l.Pause)
}

// watchers returns the number of clients of each session. Their sum is l.Clients.
func (l *Load) watchers() []int {
	weights, total := make([]float64, l.Sessions), 0.0
	for i := range weights {
		weights[i] = math.Pow(float64(i+1), -l.Skew)
		total += weights[i]
	}
	all, sum, given := make([]int, l.Sessions), 0.0, 0
	for i, w := range weights {
		sum += w
		upTo := int(math.Round(float64(l.Clients) * sum / total))
		all[i] = upTo - given
		given = upTo
	}
	return all
}

// A resource is something that a machine has a limited amount of.
type resource string

const (
	processor resource = "processor"
	memory    resource = "memory"
	network   resource = "network"
	files     resource = "open files"
	writes    resource = "writes to the store"
	disk      resource = "disk"
)

// resources lists the resources, in the order of output.
var resources = []resource{processor, memory, network, files, writes, disk}
