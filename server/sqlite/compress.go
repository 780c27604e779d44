package sqlite

import (
	"errors"
	"slices"

	"github.com/klauspost/compress/s2"
)

// compressed is the first byte of compressed data; a block of S2 follows. Lines and states are JSON
// and never begin with it, so rows of earlier releases are read as they are.
const compressed = 0

const (
	minCompress  = 128       // bytes from which compression is worth its time
	keptCompress = 128 << 10 // maximum size of a buffer that is kept between rows
	keptLines    = 192 << 10 // maximum size of the lines of a chunk that are kept
)

var errNotCompressed = errors.New("data is not what was compressed")

// compress returns the data of a row as it is stored: compressed, or data itself if that is no
// shorter. The result is valid until the next call with buf.
func compress(data []byte, buf *[]byte) []byte {
	forced := len(data) > 0 && data[0] == compressed // else decompress could not tell them apart
	if len(data) < minCompress && !forced {
		return data
	}
	most := 1 + s2.MaxEncodedLen(len(data))
	if most <= 0 { // too large for a block
		return data
	}
	b := *buf
	if len(b) < most {
		b = make([]byte, most)
		if most <= keptCompress {
			*buf = b
		}
	}
	b[0] = compressed
	stored := b[:1+len(s2.Encode(b[1:], data))]
	if len(stored) >= len(data) && !forced {
		return data
	}
	return stored
}

// decompressedLen returns the number of bytes that decompress appends; 0 if it fails.
func decompressedLen(stored []byte) int {
	if len(stored) == 0 || stored[0] != compressed {
		return len(stored)
	}
	size, _ := s2.DecodedLen(stored[1:])
	return size
}

// decompress appends the data of a row to dst. stored must not be memory of dst.
func decompress(dst, stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != compressed {
		return append(dst, stored...), nil
	}
	size, err := s2.DecodedLen(stored[1:])
	if err != nil {
		return dst, errNotCompressed
	}
	base := len(dst)
	dst = slices.Grow(dst, size)[:base+size]
	if _, err := s2.Decode(dst[base:], stored[1:]); err != nil {
		return dst[:base], errNotCompressed
	}
	return dst, nil
}
