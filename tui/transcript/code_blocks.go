package transcript

import "strings"

// CodeBlocks returns the contents of the fenced code blocks of a markdown text, each without the
// indentation of its fence. It includes an unclosed block at the end.
func CodeBlocks(src string) []string {
	var blocks []string
	var block strings.Builder
	fence, indent := "", 0
	for line := range strings.Lines(src) {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case fence == "":
			if fence, _ = opensFence(strings.TrimRight(trimmed, "\n")); fence != "" {
				indent = len(line) - len(trimmed)
				block.Reset()
			}
		case closesFence(strings.TrimRight(trimmed, "\n"), fence):
			blocks = append(blocks, block.String())
			fence = ""
		default:
			block.WriteString(line[min(indent, len(line)-len(trimmed)):])
		}
	}
	if fence != "" {
		blocks = append(blocks, block.String())
	}
	return blocks
}
