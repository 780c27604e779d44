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

// maxLine is the maximum length of a line, in bytes.
const maxLine = 1 << 20

//go:embed tour.script
var tour string

// A Script is a parsed script file. It is safe for concurrent use and shared by agents.
type Script struct {
	// Static after Parse.
	name     string
	resumes  bool
	steers   bool
	window   int64
	rate     rate
	options  *protocol.Options
	sections []*section

	mu    sync.Mutex
	gates map[string]chan struct{}
}

// A section is a turn of the script: steps and the messages they answer.
type section struct {
	on     string
	number int // message number; 0: match by text
	steps  steps
}

// Load reads a script from a file.
func Load(path string) (*Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load script: %w", err)
	}
	defer f.Close()
	return Parse(filepath.Base(path), f)
}

// Tour returns the script of the guided tour: three turns of at most twelve seconds in total,
// without the time for decisions.
func Tour() *Script {
	s, err := Parse("tour.script", strings.NewReader(tour))
	if err != nil {
		panic(err) // the embedded file is broken
	}
	return s
}

// Parse parses a script. Errors start with NAME:LINE.
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
		if err := s.parseLine(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	return s, nil
}

func (s *Script) parseLine(line []byte) error {
	verb, err := firstKey(line)
	if err != nil {
		return err
	}
	if head := headers[verb]; head != nil {
		if len(s.sections) > 0 {
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
		s.sections = append(s.sections, &section{on: on.On})
		return nil
	case "turn":
		var turn struct {
			Turn int `json:"turn"`
		}
		if err := protocol.DecodeStrict(line, &turn); err != nil {
			return err
		}
		if turn.Turn < 1 {
			return errors.New("turn: must be at least 1")
		}
		s.sections = append(s.sections, &section{number: turn.Turn})
		return nil
	}
	st, err := parseStep(verb, line)
	if err != nil {
		return err
	}
	if len(s.sections) == 0 {
		return fmt.Errorf("%s: a step before the first turn", verb)
	}
	last := s.sections[len(s.sections)-1]
	last.steps = append(last.steps, st)
	return nil
}

// headers are the lines that describe the agent, by verb.
var headers = map[string]func(*Script, []byte) error{
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
	"steers": func(s *Script, line []byte) error {
		return protocol.DecodeStrict(line, &struct {
			Steers *bool `json:"steers"`
		}{&s.steers})
	},
	"window": func(s *Script, line []byte) error {
		var d struct {
			Window int64 `json:"window"`
		}
		if err := protocol.DecodeStrict(line, &d); err != nil {
			return err
		}
		if d.Window < 1 {
			return errors.New("window: must be at least 1")
		}
		s.window = d.Window
		return nil
	},
	"pace": func(s *Script, line []byte) error {
		var d struct {
			Pace rate `json:"pace"`
		}
		if err := protocol.DecodeStrict(line, &d); err != nil {
			return err
		}
		s.rate = d.Pace
		return s.rate.check()
	},
}

// match returns the steps for the n-th message of a session and whether a section matches.
func (s *Script) match(n int, text string) (steps, bool) {
	for _, p := range s.sections {
		if p.number == n || p.number == 0 && matches(p.on, text) {
			return p.steps, true
		}
	}
	return nil, false
}

// matches reports whether text matches a pattern: part of the text or, with *, all of it.
func matches(pattern, text string) bool {
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

// OpenGate opens a gate: current and later wait steps on it pass.
func (s *Script) OpenGate(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := s.gateChan(name)
	select {
	case <-gate:
	default:
		close(gate)
	}
}

// gateChan returns a channel that is closed when the gate opens. The caller holds mu.
func (s *Script) gateChan(name string) chan struct{} {
	if s.gates[name] == nil {
		s.gates[name] = make(chan struct{})
	}
	return s.gates[name]
}

// TourPatchMessage is the message to a second session of the tour: its turn asks for a review.
const TourPatchMessage = "Translate the greeting into French."

// TourMessages returns the user messages of the tour, one per turn.
func TourMessages() []string {
	return []string{
		"What is agentctl?",
		"Do the tests pass? Ask me before you run anything.",
		"Plan how to add a French greeting, and do it.",
	}
}
