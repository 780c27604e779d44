package sessionlist

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"agentctl/protocol"
)

// benchSessions is the number of sessions of five large servers.
const benchSessions = 20_000

// benchSession returns a version of session i. One in eight waits, one in eight runs.
func benchSession(i, version int) protocol.Summary {
	s := protocol.Summary{
		Session: fmt.Sprint("s", i), Name: fmt.Sprint("task-", i*7919%benchSessions), Agent: "claude", CWD: "/home/ada/store",
		Status: protocol.Idle, Updated: at(i*31%benchSessions + version),
	}
	switch i % 8 {
	case 0:
		s.Status, s.Turn, s.Asked = protocol.Waiting, "t", asked(i)
	case 1:
		s.Status, s.Turn = protocol.Running, "t"
	}
	return s
}

// benchList returns a list of all sessions, added in random order.
func benchList() *List {
	l := New()
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(benchSessions) {
		l.Put(benchSession(i, 0))
	}
	return l
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		benchList()
	}
}

func BenchmarkPut(b *testing.B) {
	l := benchList()
	for n := 0; b.Loop(); n++ {
		l.Put(benchSession(n*7919%benchSessions, n%benchSessions))
	}
}

func BenchmarkSetOrder(b *testing.B) {
	l := benchList()
	for b.Loop() {
		l.SetOrder(l.NextOrder())
	}
}

// A screen of 50 rows and the index of the selected one are read in each frame.
func BenchmarkFrame(b *testing.B) {
	l := benchList()
	for n := 0; b.Loop(); n++ {
		first := n * 7919 % (benchSessions - 50)
		for i := range 50 {
			l.At(first + i)
		}
		l.Index(l.At(first).Session)
	}
}
