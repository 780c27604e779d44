package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Constants of the write-ahead log format, https://sqlite.org/fileformat2.html#walformat.
const (
	walHeaderSize   = 32
	frameHeaderSize = 24
	walMagic        = 0x377f0682 // plus one when checksums are big-endian
)

// walIntact reports whether every commit that reached the log at path can be recovered. SQLite ends
// recovery at the first frame with a wrong checksum and assumes that the process died while writing
// it. A commit behind such a frame proves later damage. Damage to the last frame cannot be
// detected.
func walIntact(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, wrap(err, "check write-ahead log")
	}
	defer func() { _ = file.Close() }() // read-only
	intact, err := framesIntact(bufio.NewReaderSize(file, 1<<20))
	return intact, wrap(err, "check write-ahead log")
}

func framesIntact(log io.Reader) (bool, error) {
	header := make([]byte, walHeaderSize)
	switch _, err := io.ReadFull(log, header); {
	case err == io.EOF: // truncated by a checkpoint
		return true, nil
	case err == io.ErrUnexpectedEOF:
		return false, nil
	case err != nil:
		return false, err
	}
	magic, page := binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[8:])
	sum := walChecksum{order: binary.LittleEndian}
	if magic&1 == 1 {
		sum.order = binary.BigEndian
	}
	sum.add(header[:24])
	if magic&^1 != walMagic || page < 512 || page > 65536 || !sum.matches(header[24:]) {
		return false, nil
	}
	salts := [8]byte(header[16:24])
	frame, broken := make([]byte, frameHeaderSize+page), false
	for {
		if _, err := io.ReadFull(log, frame); err == io.EOF || err == io.ErrUnexpectedEOF {
			return true, nil
		} else if err != nil {
			return false, err
		}
		current, commit := [8]byte(frame[8:16]) == salts, binary.BigEndian.Uint32(frame[4:]) != 0
		if broken {
			if current && commit {
				return false, nil
			}
			continue
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeaderSize:])
		broken = !current || !sum.matches(frame[16:24])
	}
}

// A walChecksum is the running checksum of a log. The checksum of each frame covers all frames
// before it.
type walChecksum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

// add adds data, a multiple of eight bytes.
func (s *walChecksum) add(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		s.s0 += s.order.Uint32(data) + s.s1
		s.s1 += s.order.Uint32(data[4:]) + s.s0
	}
}

func (s *walChecksum) matches(stored []byte) bool {
	return binary.BigEndian.Uint32(stored) == s.s0 && binary.BigEndian.Uint32(stored[4:]) == s.s1
}
