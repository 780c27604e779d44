package thumbnail

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

const (
	// maxSent bounds the images that the terminal keeps.
	maxSent = 48

	// maxResent bounds the bytes of images that are sent together when the terminal has lost all.
	maxResent = 768 << 10
)

// sentImages are the images that the terminal has, the least recently shown first. It is safe for
// concurrent use: the writer of the terminal reads them too.
type sentImages struct {
	mu     sync.Mutex
	images []sentImage
	lastID int
}

// sentImage is a thumbnail that was sent to be drawn in a number of cells.
type sentImage struct {
	thumbnail *Thumbnail
	cells     size
	id        int // at most 24 bits: it is a colour
	png       []byte
}

// sequence returns the sequences that send the image.
func (i *sentImage) sequence() string { return transmit(i.id, i.png, i.cells) }

// index returns the index of a thumbnail in cells, or -1.
func (s *sentImages) index(t *Thumbnail, cells size) int {
	return slices.IndexFunc(s.images, func(i sentImage) bool { return i.thumbnail == t && i.cells == cells })
}

// id returns the ID of a thumbnail in cells. ok is false if the terminal does not have it.
func (s *sentImages) id(t *Thumbnail, cells size) (id int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(t, cells)
	if i < 0 {
		return 0, false
	}
	return s.images[i].id, true
}

// add returns the sequences that send a thumbnail, and delete the one that was not shown for the
// longest time if there are too many. It returns "" if the terminal has the thumbnail. ok is false
// if the thumbnail was deleted: its image must be loaded again.
func (s *sentImages) add(t *Thumbnail, cells size) (sequence string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(t, cells); i >= 0 {
		sent := s.images[i]
		s.images = append(slices.Delete(s.images, i, i+1), sent)
		return "", true
	}
	png := t.png
	if i := slices.IndexFunc(s.images, func(i sentImage) bool { return i.thumbnail == t }); i >= 0 {
		png = s.images[i].png
	}
	if png == nil {
		return "", false
	}
	sent := sentImage{t, cells, s.newID(), png}
	s.images, t.png = append(s.images, sent), nil
	if len(s.images) <= maxSent {
		return sent.sequence(), true
	}
	oldest := s.images[0]
	s.images = slices.Delete(s.images, 0, 1)
	return remove(oldest.id) + sent.sequence(), true
}

// newID returns an ID that this program has not used for long. The first one is random: other
// programs in the terminal have images too.
func (s *sentImages) newID() int {
	const ids = 1<<24 - 1
	if s.lastID == 0 {
		s.lastID = rand.IntN(ids)
	}
	s.lastID = s.lastID%ids + 1
	return s.lastID
}

// resend returns the sequences that send the images that were shown last again, and delete the
// others. Those are loaded again when they are shown.
func (s *sentImages) resend() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out strings.Builder
	from, size := len(s.images), 0
	for ; from > 0; from-- {
		if size += len(s.images[from-1].png); size > maxResent {
			break
		}
	}
	for _, i := range s.images[:from] {
		out.WriteString(remove(i.id))
	}
	s.images = slices.Delete(s.images, 0, from)
	for _, i := range s.images {
		out.WriteString(i.sequence())
	}
	return out.String()
}

// removeAll returns the sequences that delete all images.
func (s *sentImages) removeAll() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out strings.Builder
	for _, i := range s.images {
		out.WriteString(remove(i.id))
	}
	return out.String()
}

// forget empties the list.
func (s *sentImages) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images = nil
}
