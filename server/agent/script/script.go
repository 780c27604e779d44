package script

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"agentctl/protocol"
)

// maxLine bounds a line of a script, in bytes.
const maxLine = 1 << 20

//go:embed tour.script
var tour string

// A Script is a parsed file. It is shared by the agents of any number of sessions and safe for concurrent use.
type Script struct {
	// Static after Parse.
	name    string
	resumes bool
	window  int64
	pace    pace
	options *protocol.Options
	turns   []*part

	mu    sync.Mutex
	gates map[string]chan struct{}
}

// A part is the steps for the messages it matches.
type part struct {
	on    string
	turn  int // of the message; 0: matched by text
	steps steps
}

// Load reads the script in a file.
func Load(path string) (*Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load script: %w", err)
	}
	defer f.Close()
	return Parse(filepath.Base(path), f)
}

// Tour returns the script of the guided tour: three turns, under twelve seconds in all beside what people take to decide.
func Tour() *Script {
	s, err := Parse("tour.script", strings.NewReader(tour))
	if err != nil {
		panic(err) // the embedded file is broken
	}
	return s
}

// Parse reads a script strictly. Its errors begin with NAME:LINE.
func Parse(name string, r io.Reader) (*Script, error) {
	s := &Script{name: name, gates: map[string]chan struct{}{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || bytes.HasPrefix(line, []byte("//")) {
			continue
		}
		if err := s.add(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	return s, nil
}

// add takes one line.
func (s *Script) add(line []byte) error {
	verb, err := firstKey(line)
	if err != nil {
		return err
	}
	if head := heads[verb]; head != nil {
		if len(s.turns) > 0 {
			return fmt.Errorf("%s: only before the first turn", verb)
		}
		return head(s, line)
	}
	switch verb {
	case "on":
		var on struct {
			On string `json:"on"`
		}
		if err := protocol.DecodeStrict(line, &on); err != nil {
			return err
		}
		if on.On == "" {
			return errors.New("on: empty; * matches every message")
		}
		s.turns = append(s.turns, &part{on: on.On})
		return nil
	case "turn":
		var turn struct {
			Turn int `json:"turn"`
		}
		if err := protocol.DecodeStrict(line, &turn); err != nil {
			return err
		}
		if turn.Turn < 1 {
			return errors.New("turn: counts from 1")
		}
		s.turns = append(s.turns, &part{turn: turn.Turn})
		return nil
	}
	st, err := parseStep(verb, line)
	if err != nil {
		return err
	}
	if len(s.turns) == 0 {
		return fmt.Errorf("%s: a step before the first turn", verb)
	}
	last := s.turns[len(s.turns)-1]
	last.steps = append(last.steps, st)
	return nil
}

// heads are the lines that describe the agent.
var heads = map[string]func(*Script, []byte) error{
	"agent": func(s *Script, line []byte) error {
		var d struct {
			Agent    string                  `json:"agent"`
			Version  string                  `json:"version"`
			Settings []protocol.Setting      `json:"settings"`
			Commands []protocol.SlashCommand `json:"commands"`
		}
		if err := protocol.DecodeStrict(line, &d); err != nil {
			return err
		}
		s.options = &protocol.Options{Name: d.Agent, Version: d.Version, Settings: d.Settings, Commands: d.Commands}
		return nil
	},
	"resumes": func(s *Script, line []byte) error {
		return protocol.DecodeStrict(line, &struct {
			Resumes *bool `json:"resumes"`
		}{&s.resumes})
	},
	"window": func(s *Script, line []byte) error {
		var d struct {
			Window int64 `json:"window"`
		}
		if err := protocol.DecodeStrict(line, &d); err != nil {
			return err
		}
		if d.Window < 1 {
			return errors.New("window: at least one token")
		}
		s.window = d.Window
		return nil
	},
	"pace": func(s *Script, line []byte) error {
		var d struct {
			Pace pace `json:"pace"`
		}
		if err := protocol.DecodeStrict(line, &d); err != nil {
			return err
		}
		s.pace = d.Pace
		return s.pace.check()
	},
}

// match returns the steps for the n-th message of a session; nil when there are none.
func (s *Script) match(n int, text string) (steps, bool) {
	for _, p := range s.turns {
		if p.turn == n || p.turn == 0 && fits(p.on, text) {
			return p.steps, true
		}
	}
	return nil, false
}

// fits reports whether text matches a pattern: a part of it or, with *, all of it.
func fits(pattern, text string) bool {
	head, rest, glob := strings.Cut(pattern, "*")
	if !glob {
		return strings.Contains(text, pattern)
	}
	if !strings.HasPrefix(text, head) {
		return false
	}
	text = text[len(head):]
	for {
		piece, more, again := strings.Cut(rest, "*")
		if !again {
			return strings.HasSuffix(text, piece)
		}
		i := strings.Index(text, piece)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(piece):], more
	}
}

// OpenGate lets every wait step on that gate pass, now and later.
func (s *Script) OpenGate(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := s.gate(name)
	select {
	case <-gate:
	default:
		close(gate)
	}
}

// gate returns the channel that is closed when the gate opens. The caller holds mu.
func (s *Script) gate(name string) chan struct{} {
	if s.gates[name] == nil {
		s.gates[name] = make(chan struct{})
	}
	return s.gates[name]
}

// TourMessages are what the tour's person says: one message for each turn.
func TourMessages() []string {
	return []string{
		"What is agentctl?",
		"Do the tests pass? Ask me before you run anything.",
		"Plan how to add a French greeting, and do it.",
	}
}
