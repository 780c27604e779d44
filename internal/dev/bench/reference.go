package main

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
)

// A reference serves sessions without a store over TCP. A client sends "SESSION FROM", and gets the
// lines of the session: with FROM "start" those of the past too.
type reference struct {
	kind string

	mu       sync.Mutex
	sessions map[string]*arena
}

func newReference(kind string) *reference {
	return &reference{kind: kind, sessions: map[string]*arena{}}
}

// arena returns the arena of a session.
func (r *reference) arena(id string) *arena {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.sessions[id]
	if a == nil {
		a = &arena{}
		r.sessions[id] = a
	}
	return a
}

// accept serves clients until the listener is closed.
func (r *reference) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go r.serve(c)
	}
}

// serve serves a client until it disconnects.
func (r *reference) serve(c net.Conn) {
	defer c.Close()
	line, err := bufio.NewReaderSize(c, 64).ReadString('\n')
	if err != nil {
		return
	}
	id, from, _ := strings.Cut(strings.TrimSpace(line), " ")
	a := r.arena(id)
	cursor := &reader{wake: make(chan struct{}, 1)}
	if r.kind == "channel" {
		cursor.lines = make(chan []byte, 256)
	}
	a.add(cursor, from == "start")
	defer a.remove(cursor)
	if _, err := c.Write([]byte("ready\n")); err != nil {
		return
	}
	if r.kind == "channel" {
		for b := range cursor.lines {
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	}
	for {
		b := a.next(cursor)
		if b == nil {
			<-cursor.wake
			continue
		}
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}

// publish carries out a job in a session.
func (r *reference) publish(id string, j *job) {
	a := r.arena(id)
	seq := uint64(0)
	_ = j.run(func(text string) error {
		seq++
		e := protocol.Event{
			Session: id, Seq: seq, Turn: "t_1", Time: time.Now(), Type: protocol.TextDelta,
			Data: protocol.MustEncode(protocol.PartDeltaData{Part: "p1", Text: text}),
		}
		a.append(append(e.AppendJSON(nil), '\n'))
		return nil
	})
}

// An arena is the encoded lines of a session, in blocks that never move.
type arena struct {
	mu      sync.Mutex
	blocks  [][]byte
	readers []*reader
}

// A reader is a client's place in an arena.
type reader struct {
	block, offset int
	waiting       bool
	wake          chan struct{}
	lines         chan []byte // of the channel broadcast
}

const blockSize = 64 << 10

// add adds a reader at the start or the end of the arena.
func (a *arena) add(r *reader, start bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.blocks); n > 0 && !start {
		r.block, r.offset = n-1, len(a.blocks[n-1])
	}
	a.readers = append(a.readers, r)
}

func (a *arena) remove(r *reader) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, x := range a.readers {
		if x == r {
			a.readers = append(a.readers[:i], a.readers[i+1:]...)
			return
		}
	}
}

// append adds a line and wakes the readers that wait, or sends it to their channels.
func (a *arena) append(line []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.blocks)
	if n == 0 || len(a.blocks[n-1])+len(line) > blockSize {
		a.blocks = append(a.blocks, make([]byte, 0, blockSize))
		n++
	}
	a.blocks[n-1] = append(a.blocks[n-1], line...)
	for _, r := range a.readers {
		switch {
		case r.lines != nil:
			r.lines <- line
		case r.waiting:
			r.waiting = false
			r.wake <- struct{}{}
		}
	}
}

// next returns the lines from the reader's place to the end of its block. It returns nil and notes
// that the reader waits if there is none.
func (a *arena) next(r *reader) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	for r.block < len(a.blocks) {
		if b := a.blocks[r.block][r.offset:]; len(b) > 0 {
			r.offset += len(b)
			return b
		}
		if r.block == len(a.blocks)-1 {
			break
		}
		r.block, r.offset = r.block+1, 0
	}
	r.waiting = true
	return nil
}
