package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"agentctl/internal/atomicfile"
	"agentctl/protocol"
)

// positions are the positions up to which a hook has read each session: earlier events were sent,
// dropped or have no notification. They are stored in a file that grows by one line per change, and
// is rewritten when most of its lines are outdated. After a lost line a notification is sent again,
// under the same id.
type positions struct {
	path  string
	file  *os.File
	lines int
	at    map[string]protocol.Position
}

type positionLine struct {
	Session string `json:"session"`
	Epoch   string `json:"epoch"`
	Seq     uint64 `json:"seq"`
}

// openPositions reads the file. Without one, at is nil.
func openPositions(path string) (*positions, error) {
	p := &positions{path: path}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("positions: %w", err)
	}
	p.at = map[string]protocol.Position{}
	for line := range bytes.Lines(b) {
		var l positionLine
		if json.Unmarshal(line, &l) == nil && l.Session != "" { // the last line may be torn
			p.at[l.Session] = protocol.Position{Epoch: l.Epoch, Seq: l.Seq}
		}
	}
	return p, nil
}

func (p *positions) set(session string, at protocol.Position) error {
	if p.at[session] == at {
		return nil
	}
	p.at[session] = at
	if p.file == nil || p.lines > 2*len(p.at)+1000 {
		return p.rewrite()
	}
	p.lines++
	if _, err := p.file.Write(encodePosition(session, at)); err != nil {
		return fmt.Errorf("positions: %w", err)
	}
	return nil
}

func encodePosition(session string, at protocol.Position) []byte {
	return append(protocol.MustEncode(positionLine{session, at.Epoch, at.Seq}), '\n')
}

// rewrite replaces the file, synced: without positions a hook sends recent notifications again.
func (p *positions) rewrite() error {
	var b []byte
	for session, at := range p.at {
		b = append(b, encodePosition(session, at)...)
	}
	if err := p.close(); err != nil {
		return err
	}
	if err := atomicfile.Write(p.path, b, 0o600); err != nil {
		return fmt.Errorf("positions: %w", err)
	}
	f, err := os.OpenFile(p.path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("positions: %w", err)
	}
	p.file, p.lines = f, len(p.at)
	return nil
}

func (p *positions) close() error {
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}
