package transcript

// lineOverhead is what a line costs beside its bytes: its string header.
const lineOverhead = 16

// Block is one item as lines. Each line fits the width it was asked for; the
// list cuts one that does not.
type Block struct {
	Head []string
	Body []string
	Foot []string
	// Bytes is about what Body holds, for the cache; zero means count it.
	Bytes int
	// Draw dresses a line of the body when it comes on the screen; nil leaves
	// it as it is. So a long body is never dressed as a whole.
	Draw func(line string) string
}

func (b *Block) height() int { return len(b.Head) + len(b.Body) + len(b.Foot) }

func (b *Block) line(i int) string {
	if i < len(b.Head) {
		return b.Head[i]
	}
	i -= len(b.Head)
	if i < len(b.Body) {
		if b.Draw != nil {
			return b.Draw(b.Body[i])
		}
		return b.Body[i]
	}
	return b.Foot[i-len(b.Body)]
}

func (b *Block) size() int {
	n := b.Bytes
	if n == 0 {
		n = sizeOf(b.Body)
	}
	return n + sizeOf(b.Head) + sizeOf(b.Foot) + 128
}

func sizeOf(lines []string) int {
	n := 0
	for _, line := range lines {
		n += len(line) + lineOverhead
	}
	return n
}
