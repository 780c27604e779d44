package tool

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"sync"

	"agentctl/server/agent/llm"
)

// known has the files as the model last read or wrote them. Its methods may be called from any
// goroutine.
type known struct {
	mu    sync.Mutex
	files map[string]llm.SeenFile // by path, with the real path
}

// Recall implements llm.Toolbox.
func (b *Toolbox) Recall(files []llm.SeenFile) {
	b.known.mu.Lock()
	defer b.known.mu.Unlock()
	for _, f := range files {
		b.known.files[f.Path] = f
	}
}

// read records that the model read the lines of a file from first to last, and returns what it has
// seen of it.
func (k *known) read(p *place, c *content, first, last int) llm.SeenFile {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := llm.SeenFile{Path: p.real, Hash: c.hash(), Lines: c.lines()}
	if old := k.files[p.real]; old.Hash == f.Hash {
		f.Seen = old.Seen
	}
	if first <= f.Seen+1 {
		f.Seen = max(f.Seen, last)
	}
	k.files[f.Path] = f
	return f
}

// write records a new content of a file. The model has seen all of it if it had seen all before.
func (k *known) write(p *place, c *content) llm.SeenFile {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := llm.SeenFile{Path: p.real, Hash: c.hash(), Lines: c.lines()}
	f.Seen = f.Lines
	if old, ok := k.files[p.real]; ok && old.Seen < old.Lines {
		f.Seen = min(old.Seen, f.Lines)
	}
	k.files[f.Path] = f
	return f
}

// check fails if the model does not know the present content of a file, or, if it is replaced as a whole,
// not all of it.
func (k *known) check(p *place, c *content, whole bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.files[p.real]
	switch {
	case !c.exists:
		return nil
	case !ok:
		return fmt.Errorf("%s exists: read it before you change it", p.shown)
	case f.Hash != c.hash():
		return fmt.Errorf("%s has changed since you read it: read it again", p.shown)
	case whole && f.Seen < f.Lines:
		return fmt.Errorf("you have read %d of the %d lines of %s: read the rest before you write it, or use edit",
			f.Seen, f.Lines, p.shown)
	}
	return nil
}

// hash identifies the content of a file. A missing file has none.
func (c *content) hash() string {
	if !c.exists {
		return ""
	}
	sum := c.sum()
	return hex.EncodeToString(sum[:])
}

// lines returns the number of lines.
func (c *content) lines() int {
	if len(c.bytes) == 0 {
		return 0
	}
	return bytes.Count(bytes.TrimSuffix(c.bytes, []byte("\n")), []byte("\n")) + 1
}
