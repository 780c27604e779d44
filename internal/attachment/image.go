package attachment

import (
	"context"
	"io"
	"os"
	"strings"

	"agentctl/internal/picture"
	"agentctl/protocol"
)

func (a *File) isImage() bool { return strings.HasPrefix(a.MediaType, "image/") }

// images returns the number of images.
func images(list []File) (n int) {
	for i := range list {
		if list[i].isImage() {
			n++
		}
	}
	return n
}

// scaledDown returns an image scaled down so that its part has at most most bytes. ok is false if it
// cannot be decoded or read.
func (a *File) scaledDown(most int) (scaled File, ok bool) {
	data, err := a.readAll()
	if err != nil {
		return File{}, false
	}
	empty := File{Name: a.Name, MediaType: "image/jpeg"}
	bound := picture.Bound{Side: picture.MaxSide, Bytes: (most - len(protocol.MustEncode(empty.part()))) / 4 * 3}
	data, mediaType, err := picture.Fit(context.Background(), data, bound)
	if err != nil {
		return File{}, false
	}
	return File{Name: a.Name, MediaType: mediaType, Size: int64(len(data)), path: a.path, data: data}, true
}

// readAll returns the content of a file, at most what picture.Fit takes and a byte more.
func (a *File) readAll() ([]byte, error) {
	if a.Size == int64(len(a.data)) || a.path == "" {
		return a.data, nil
	}
	f, err := os.Open(a.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, picture.MaxBytes+1))
}
