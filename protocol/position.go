package protocol

import (
	"strconv"
	"strings"
)

// A Position is a place in a session's log: the log's epoch and the seq of the last event seen. Its
// text form is EPOCH:SEQ. A bare SEQ has no epoch and means the current one.
type Position struct {
	Epoch string
	Seq   uint64
}

func (p Position) String() string {
	s := strconv.FormatUint(p.Seq, 10)
	if p.Epoch == "" {
		return s
	}
	return p.Epoch + ":" + s
}

// ParsePosition parses the text form. Errors have the code invalid_position.
func ParsePosition(s string) (Position, error) {
	epoch, seq, found := strings.Cut(s, ":")
	if !found {
		epoch, seq = "", s
	}
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil || found && !validEpoch(epoch) {
		return Position{}, Errorf(CodeInvalidPosition, "%.80q is not a position: write EPOCH:SEQ or SEQ", s)
	}
	return Position{epoch, n}, nil
}

func validEpoch(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// MarshalText returns the text form.
func (p Position) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText parses the text form. Errors have the code invalid_position.
func (p *Position) UnmarshalText(b []byte) (err error) {
	*p, err = ParsePosition(string(b))
	return err
}
