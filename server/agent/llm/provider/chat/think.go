package chat

import (
	"strings"

	"agentctl/server/agent/llm/model"
)

const (
	openThink  = "<think>"
	closeThink = "</think>"
)

// A thinkSplitter splits reasoning between <think> and </think> from a text, if the text begins
// with it.
type thinkSplitter struct {
	held  string // may be part of a mark
	state thinkState
}

type thinkState int

const (
	beforeThink thinkState = iota // only spaces received so far
	inThink
	afterThink // the rest is text
)

// A piece is a piece of text or reasoning.
type piece struct {
	kind model.PartType
	text string
}

// split returns the pieces of the next text.
func (s *thinkSplitter) split(text string) (pieces []piece) {
	s.held += text
	for s.held != "" {
		switch s.state {
		case beforeThink:
			rest := strings.TrimLeft(s.held, " \r\n\t")
			if after, ok := strings.CutPrefix(rest, openThink); ok {
				s.state, s.held = inThink, after
				continue
			}
			if strings.HasPrefix(openThink, rest) {
				return pieces
			}
			s.state = afterThink
		case inThink:
			before, after, found := strings.Cut(s.held, closeThink)
			if found {
				s.state, s.held = afterThink, strings.TrimLeft(after, "\r\n")
				pieces = addPiece(pieces, model.Reasoning, before)
				continue
			}
			keep := overlap(s.held, closeThink)
			pieces = addPiece(pieces, model.Reasoning, s.held[:len(s.held)-keep])
			s.held = s.held[len(s.held)-keep:]
			return pieces
		case afterThink:
			pieces = addPiece(pieces, model.Text, s.held)
			s.held = ""
		}
	}
	return pieces
}

// flush returns the text held back.
func (s *thinkSplitter) flush() []piece {
	kind := model.Text
	if s.state == inThink {
		kind = model.Reasoning
	}
	pieces := addPiece(nil, kind, s.held)
	s.held = ""
	return pieces
}

func addPiece(pieces []piece, kind model.PartType, text string) []piece {
	if text == "" {
		return pieces
	}
	return append(pieces, piece{kind, text})
}

// overlap returns the length of the longest end of text that begins mark.
func overlap(text, mark string) int {
	for n := min(len(text), len(mark)-1); n > 0; n-- {
		if strings.HasPrefix(mark, text[len(text)-n:]) {
			return n
		}
	}
	return 0
}
