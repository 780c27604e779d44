package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of the output of a command, in bytes.
const (
	maxOutput  = 8 << 20   // of a longer one the middle is left out
	shownBytes = 30_000    // that the model gets
	liveBytes  = 256 << 10 // that clients get while it runs
)

// collect reads output to its end and sends it live. It returns the first and the last half of maxOutput, with
// a note between them if there was more.
func collect(r io.Reader, live func(string)) []byte {
	var head, tail, rest []byte
	sent, left := 0, 0
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Read(buffer)
		first := min(n, maxOutput/2-len(head))
		head, tail = append(head, buffer[:first]...), append(tail, buffer[first:n]...)
		if over := len(tail) - maxOutput/2; over > 0 && (len(tail) > maxOutput || err != nil) {
			left += over
			tail = append(tail[:0], tail[over:]...)
		}
		if sent < liveBytes {
			rest = append(rest, buffer[:n]...)
			whole := len(rest) - partialRune(rest)
			if err != nil {
				whole = len(rest)
			}
			if whole > 0 {
				live(strings.ToValidUTF8(string(rest[:whole]), "\uFFFD"))
				rest = append(rest[:0], rest[whole:]...)
			}
			if sent += n; sent >= liveBytes {
				live("\n[the rest of the output is not shown live]\n")
			}
		}
		switch {
		case err != nil && left > 0:
			note := fmt.Sprintf("\n[%d bytes were left out: the output was too long]\n", left)
			return slices.Concat(head, []byte(note), tail)
		case err != nil:
			return append(head, tail...)
		}
	}
}

// partialRune returns the length of an incomplete character at the end.
func partialRune(b []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(b)); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(b[len(b)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// outputScheme begins the path by which the model reads an output that was cut.
const outputScheme = "output:"

// Limits of the long outputs that are kept. The newest one is always kept.
const (
	maxOutputs     = 50
	maxOutputBytes = 32 << 20
)

// outputs has the newest long outputs of commands, in files that live as long as the tools. Its
// methods may be called from any goroutine.
type outputs struct {
	parent string // of the directory; empty: the one of temporary files

	mu     sync.Mutex
	dir    string
	sizes  []int // bytes of the outputs that are kept; the last has the number n
	n      int
	closed bool
}

// text returns an output for the model: its beginning and its end, if it is long.
func (o *outputs) text(b []byte) string {
	text := strings.ToValidUTF8(string(b), "\uFFFD")
	if len(text) <= shownBytes {
		return strings.TrimSuffix(text, "\n")
	}
	head, tail := cutMiddle(text, shownBytes)
	from, to := 1+strings.Count(head, "\n"), strings.Count(text[:len(text)-len(tail)], "\n")
	note := fmt.Sprintf("[lines %d to %d were left out", from, to)
	if name, err := o.save(text); err == nil {
		note += "; read " + name + " has all of it"
	}
	return head + "\n" + note + "]\n" + strings.TrimSuffix(tail, "\n")
}

// Shorten returns a text of another tool for the model: its beginning and its end, if it is long,
// and the name by which the tool read has all of it.
func (b *Toolbox) Shorten(text string) string { return b.outputs.text([]byte(text)) }

// cutMiddle returns the beginning and the end of a text, at line ends if they are near.
func cutMiddle(text string, n int) (head, tail string) {
	head, tail = text[:n/2], text[len(text)-n/2:]
	if i := strings.LastIndexByte(head, '\n'); i > n/4 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < n/4 {
		tail = tail[i+1:]
	}
	return strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
}

// save keeps a text and returns its path for the tool read.
func (o *outputs) save(text string) (name string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return "", errors.New("the tools are closed")
	}
	if o.dir == "" {
		if o.parent != "" {
			if err := os.MkdirAll(o.parent, 0o700); err != nil {
				return "", err
			}
		}
		if o.dir, err = os.MkdirTemp(o.parent, "agentctl-output-"); err != nil {
			return "", err
		}
	}
	o.trim(len(text))
	if err := os.WriteFile(o.file(o.n+1), []byte(text), 0o600); err != nil {
		return "", errors.Join(err, os.Remove(o.file(o.n+1)))
	}
	o.n++
	o.sizes = append(o.sizes, len(text))
	return outputScheme + strconv.Itoa(o.n), nil
}

// trim removes the oldest outputs, so that one more of a size fits.
func (o *outputs) trim(size int) {
	for _, s := range o.sizes {
		size += s
	}
	for len(o.sizes) > 0 && (len(o.sizes) >= maxOutputs || size > maxOutputBytes) {
		_ = os.Remove(o.file(o.n - len(o.sizes) + 1))
		size -= o.sizes[0]
		o.sizes = o.sizes[1:]
	}
}

func (o *outputs) file(n int) string { return filepath.Join(o.dir, strconv.Itoa(n)+".txt") }

// read returns an output that was kept.
func (o *outputs) read(path string) (string, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(path, outputScheme))
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err != nil || n < 1 || n > o.n || o.closed:
		return "", fmt.Errorf("there is no %.50s: the server may have restarted; run the command again", path)
	case n <= o.n-len(o.sizes):
		return "", fmt.Errorf("%s was removed: only the newest outputs are kept; run the command again", path)
	}
	b, err := os.ReadFile(o.file(n))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, reason(err))
	}
	return string(bytes.TrimSuffix(b, []byte("\n"))), nil
}

func (o *outputs) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if o.dir == "" {
		return nil
	}
	return os.RemoveAll(o.dir)
}
