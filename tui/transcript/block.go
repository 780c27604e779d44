package transcript

// lineOverhead is what a line costs beside its bytes: its string header.
const lineOverhead = 16

// Block is one item as lines. Each line fits the width it was asked for; the
// list cuts one that does not.
type Block struct {
	Header []string
	Body   []string
	Footer []string
	// Bytes is about what Body holds, for the cache; zero means count it.
	Bytes int
	// RenderLine dresses a line of the body when it comes on the screen; nil leaves
	// it as it is. So a long body is never dressed as a whole.
	RenderLine func(line string) string
}

func (b *Block) height() int { return len(b.Header) + len(b.Body) + len(b.Footer) }

func (b *Block) line(i int) string {
	if i < len(b.Header) {
		return b.Header[i]
	}
	i -= len(b.Header)
	if i < len(b.Body) {
		if b.RenderLine != nil {
			return b.RenderLine(b.Body[i])
		}
		return b.Body[i]
	}
	return b.Footer[i-len(b.Body)]
}

func (b *Block) size() int {
	n := b.Bytes
	if n == 0 {
		n = sizeOf(b.Body)
	}
	return n + sizeOf(b.Header) + sizeOf(b.Footer) + 128
}

func sizeOf(lines []string) int {
	n := 0
	for _, line := range lines {
		n += len(line) + lineOverhead
	}
	return n
}
