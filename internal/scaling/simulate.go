package main

import "math/rand/v2"

// A Simulation is a load on machines of one kind.
type Simulation struct {
	Costs
	Machine
	Load
	Machines int
	Seconds  int
	Seed     uint64
	Failure
	Shared *Store // nil: each machine has its own
}

// A Failure is the end of the first machine.
type Failure struct {
	At    int // second at which it fails, from 2; 0: never
	Until int // second at which it is back with its store, if none is shared
}

// A Store is one that all machines share. Machine.Writes and Disk do not count then.
type Store struct {
	Writes float64 // events a second
	Disk   float64 // bytes
}

// A Result is what happened.
type Result struct {
	Use         map[resource]float64 // mean share on the fullest machine, before a failure
	Bottleneck  resource             // with the largest use
	Delay       float64              // seconds of work that waited, at most
	Unavailable int                  // sessions without a machine after the failure
	Recovered   int                  // seconds from the failure until no work waits; -1: not before the end
}

// A host is a machine in a simulation.
type host struct {
	sessions, clients int
	demand            float64 // processor seconds, of all seconds
	sent              float64 // bytes
	events            float64
	turns             float64 // seconds of turns, of all sessions
	waiting           float64 // processor seconds of work that waits
}

// A run is a simulation under way.
type run struct {
	*Simulation
	hosts    []host
	place    []int // of a session: its host, or -1
	watchers []int
	active   []bool
	random   *rand.Rand
	result   Result
}

// Run simulates. Equal simulations have equal results.
func (s *Simulation) Run() Result {
	r := &run{
		Simulation: s, hosts: make([]host, s.Machines), place: make([]int, s.Sessions),
		watchers: s.watchers(), active: make([]bool, s.Sessions), random: rand.New(rand.NewPCG(s.Seed, 1)),
	}
	r.result.Recovered = -1
	for i := range r.place {
		r.put(i, i%s.Machines)
		r.active[i] = r.random.Float64() < s.share()
	}
	for now := 1; now <= s.Seconds; now++ {
		if s.At > 0 && now == s.At {
			r.measure(now - 1)
			r.fail()
		}
		if s.At > 0 && now == s.Until && !s.takeover() {
			r.restart()
		}
		r.second(now)
	}
	if s.At == 0 || s.At > s.Seconds {
		r.measure(s.Seconds)
	}
	return r.result
}

// takeover reports whether other machines can load the sessions of one that failed.
func (s *Simulation) takeover() bool { return s.Shared != nil && s.Machines > 1 }

// put places a session with its clients on a host.
func (r *run) put(session, at int) {
	r.place[session] = at
	r.hosts[at].sessions++
	r.hosts[at].clients += r.watchers[session]
}

// fail ends the first machine. With a shared store the others load its sessions, and its clients
// attach there; else its sessions have no machine.
func (r *run) fail() {
	r.hosts[0] = host{}
	moved := 0
	for i, at := range r.place {
		switch {
		case at != 0:
		case !r.takeover():
			r.place[i] = -1
			r.result.Unavailable++
		default:
			r.open(i, 1+moved%(r.Machines-1))
			moved++
		}
	}
}

// restart starts the failed machine again: its sessions are loaded, and its clients attach.
func (r *run) restart() {
	for i, at := range r.place {
		if at < 0 {
			r.open(i, 0)
		}
	}
}

// open loads a session on a host, with its clients.
func (r *run) open(session, at int) {
	r.put(session, at)
	r.work(at, r.Costs.Load+float64(r.watchers[session])*r.Attach)
}

// work gives a host processor seconds of work.
func (r *run) work(at int, seconds float64) {
	r.hosts[at].demand += seconds
	r.hosts[at].waiting += seconds
}

// second lets a second pass: sessions begin and end turns, hosts work.
func (r *run) second(now int) {
	for i, at := range r.place {
		switch {
		case r.Turn == 0:
			r.active[i] = false
		case r.Pause == 0:
			r.active[i] = true
		case r.active[i]:
			r.active[i] = r.random.Float64() >= 1/r.Turn
		default:
			r.active[i] = r.random.Float64() < 1/r.Pause
		}
		if !r.active[i] || at < 0 {
			continue
		}
		sent := float64(r.watchers[i]) * r.deliveries()
		r.hosts[at].turns++
		r.hosts[at].events += r.Rate
		r.hosts[at].sent += float64(r.watchers[i]) * r.Rate * r.Wire
		r.work(at, r.Rate*r.Append+sent*r.Deliver)
	}
	waits := false
	for i := range r.hosts {
		h := &r.hosts[i]
		h.waiting = max(0, h.waiting-r.Cores)
		r.result.Delay = max(r.result.Delay, h.waiting/r.Cores)
		waits = waits || h.waiting > 0
	}
	back := r.takeover() || now >= r.Until
	if r.At > 0 && now >= r.At && back && !waits && r.result.Recovered < 0 {
		r.result.Recovered = now - r.At + 1
	}
}

// measure computes the use of the resources in so many seconds.
func (r *run) measure(passed int) {
	r.result.Use = map[resource]float64{}
	use := func(of resource, share float64) {
		r.result.Use[of] = max(r.result.Use[of], share)
	}
	seconds, events := float64(passed), 0.0
	for _, h := range r.hosts {
		use(processor, h.demand/seconds/r.Cores)
		use(memory, (float64(h.sessions)*r.Session+float64(h.clients)*r.Client+h.turns/seconds*r.Agent)/r.Memory)
		use(network, h.sent/seconds/r.Network)
		use(files, float64(h.clients)/r.Files)
		events += h.events
		if r.Shared == nil {
			use(writes, h.events/seconds/r.Machine.Writes)
			use(disk, h.events/seconds*r.Keep*r.Stored/r.Machine.Disk)
		}
	}
	if r.Shared != nil {
		use(writes, events/seconds/r.Shared.Writes)
		use(disk, events/seconds*r.Keep*r.Stored/r.Shared.Disk)
	}
	for _, of := range resources {
		if r.result.Bottleneck == "" || r.result.Use[of] > r.result.Use[r.result.Bottleneck] {
			r.result.Bottleneck = of
		}
	}
}
