package main

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

// small is one session with a turn that never ends, on one machine: a tenth of each resource.
func small() Simulation {
	return Simulation{
		// 10 events × (1 ms + 2 clients × 2 ms) = 50 ms of 500 ms a second
		Costs:    Costs{Append: 1e-3, Deliver: 2e-3, Session: 60, Client: 20, Stored: 10, Wire: 5},
		Machine:  Machine{Cores: 0.5, Memory: 1000, Network: 1000, Files: 20, Writes: 100, Disk: 100_000},
		Load:     Load{Sessions: 1, Clients: 2, Turn: 1, Rate: 10, Keep: 100},
		Machines: 1, Seconds: 10,
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestUseIsThatComputedByHand(t *testing.T) {
	s := small()
	r := s.Run()
	for _, of := range resources {
		if !near(r.Use[of], 0.1) {
			t.Errorf("%s: %v, want 0.1", of, r.Use[of])
		}
	}
	if r.Delay != 0 || r.Unavailable != 0 {
		t.Errorf("%+v", r)
	}
}

func TestTheBottleneckIsTheFullestResource(t *testing.T) {
	for of, shrink := range map[resource]func(*Machine){
		processor: func(m *Machine) { m.Cores /= 2 },
		memory:    func(m *Machine) { m.Memory /= 2 },
		network:   func(m *Machine) { m.Network /= 2 },
		files:     func(m *Machine) { m.Files /= 2 },
		writes:    func(m *Machine) { m.Writes /= 2 },
		disk:      func(m *Machine) { m.Disk /= 2 },
	} {
		s := small()
		shrink(&s.Machine)
		if r := s.Run(); r.Bottleneck != of || !near(r.Use[of], 0.2) {
			t.Errorf("%s: %s, %v", of, r.Bottleneck, r.Use)
		}
	}
}

// A process of 400 bytes beside a session of 60 and two clients of 20: half of 1,000 bytes.
func TestAgentsNeedMemoryDuringTurns(t *testing.T) {
	s := small()
	s.Agent = 400
	if r := s.Run(); !near(r.Use[memory], 0.5) {
		t.Errorf("%v", r.Use)
	}
	s.Turn = 0
	if r := s.Run(); !near(r.Use[memory], 0.1) {
		t.Errorf("without a turn: %v", r.Use)
	}
}

// A failure changes what the other machines do, not the use that is reported.
func TestUseIsThatBeforeAFailure(t *testing.T) {
	s := small()
	s.Machines, s.Sessions, s.Clients, s.Failure = 2, 2, 4, Failure{At: 5, Until: 7}
	if r := s.Run(); !near(r.Use[processor], 0.1) || r.Unavailable != 1 {
		t.Errorf("%+v", r)
	}
}

// Two sessions on two machines: the first has two of three clients, and so the larger use.
func TestUseIsThatOfTheFullestMachine(t *testing.T) {
	s := small()
	s.Machines, s.Sessions, s.Clients, s.Skew = 2, 2, 3, 1
	if w := s.watchers(); !slices.Equal(w, []int{2, 1}) {
		t.Fatal(w)
	}
	if r := s.Run(); !near(r.Use[processor], 0.1) || !near(r.Use[files], 0.1) {
		t.Errorf("%v", r.Use)
	}
}

// 50 ms of work a second for 10 ms a second: 40 ms more wait each second, 400 ms at the end.
func TestWorkBeyondTheProcessorsWaits(t *testing.T) {
	s := small()
	s.Cores = 0.01
	if r := s.Run(); !near(r.Delay, 40) || !near(r.Use[processor], 5) {
		t.Errorf("%+v", r)
	}
}

// Events of a tenth of a second each are folded to two a second: 10 × 1 + 2 × 2 × 2 = 18 ms.
func TestFoldingLowersDeliveriesAlone(t *testing.T) {
	s := small()
	s.Fold = 0.5
	if r := s.Run(); !near(r.Use[processor], 0.036) || !near(r.Use[network], 0.1) || !near(r.Use[writes], 0.1) {
		t.Errorf("%v", r.Use)
	}
}

// A third of the time is a turn: 20 s of 60.
func TestTurnsHaveTheirShareOfTime(t *testing.T) {
	s := small()
	s.Sessions, s.Clients, s.Turn, s.Pause, s.Seconds = 3000, 0, 20, 40, 500
	s.Cores = 10 // 3,000 sessions × 10 events × 1 ms × 1/3
	if r := s.Run(); math.Abs(r.Use[processor]-1) > 0.03 {
		t.Errorf("%v", r.Use[processor])
	}
	again := s
	if !near(s.Run().Use[processor], again.Run().Use[processor]) {
		t.Error("equal simulations differ")
	}
}

// 100 clients of the failed machine attach in 0.1 s each, on one core: 10 s. Without a shared store
// they wait 5 s for the machine before.
func TestRecoveryTakesTheAttachmentsAndTheRestart(t *testing.T) {
	s := small()
	s.Machines, s.Sessions, s.Clients, s.Turn = 2, 2, 200, 0
	s.Cores, s.Attach, s.Seconds, s.Failure = 1, 0.1, 60, Failure{At: 10, Until: 15}
	if r := s.Run(); r.Recovered != 15 || r.Unavailable != 1 {
		t.Errorf("own stores: %+v", r)
	}
	s.Shared = &Store{Writes: 100, Disk: 1e6}
	if r := s.Run(); r.Recovered != 10 || r.Unavailable != 0 {
		t.Errorf("a shared store: %+v", r)
	}
	s.Machines, s.Clients = 1, 100
	if r := s.Run(); r.Recovered != 15 || r.Unavailable != 2 {
		t.Errorf("one machine alone: %+v", r)
	}
	s.Seconds = 12
	if r := s.Run(); r.Recovered != -1 {
		t.Errorf("too short: %+v", r)
	}
}

// Two machines write 10 events a second each: 20 of 40 in the shared store.
func TestASharedStoreTakesTheWritesOfAll(t *testing.T) {
	s := small()
	s.Machines, s.Sessions, s.Shared = 2, 2, &Store{Writes: 40, Disk: 1e9}
	if r := s.Run(); !near(r.Use[writes], 0.5) || r.Bottleneck != writes {
		t.Errorf("%v", r.Use)
	}
}

func TestEveryClientWatchesASession(t *testing.T) {
	for _, skew := range []float64{0, 0.5, 1, 2} {
		l, sum := Load{Sessions: 1000, Clients: 12_345, Skew: skew}, 0
		for _, n := range l.watchers() {
			sum += n
		}
		if sum != l.Clients {
			t.Errorf("skew %v: %d clients", skew, sum)
		}
	}
}

func TestTheTableEndsWithEnoughMachines(t *testing.T) {
	var out bytes.Buffer
	if err := command([]string{"-sessions", "2000", "-clients", "20000", "-seconds", "4"}, &out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines < 2 || !strings.Contains(out.String(), "first") {
		t.Error(out.String())
	}
	if err := command([]string{"-machines", "-1"}, &out); err == nil {
		t.Error("no error")
	}
}
