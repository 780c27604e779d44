package transcript

import "strings"

// CodeBlocks is what stands between the fences of a markdown text, as it was
// written but for the indentation of its fence. A block that is still open
// counts.
func CodeBlocks(src string) []string {
	var blocks []string
	var block strings.Builder
	fence, indent := "", 0
	for line := range strings.Lines(src) {
		bare := strings.TrimLeft(line, " ")
		switch {
		case fence == "":
			if fence, _ = opensFence(strings.TrimRight(bare, "\n")); fence != "" {
				indent = len(line) - len(bare)
				block.Reset()
			}
		case closesFence(strings.TrimRight(bare, "\n"), fence):
			blocks = append(blocks, block.String())
			fence = ""
		default:
			block.WriteString(line[min(indent, len(line)-len(bare)):])
		}
	}
	if fence != "" {
		blocks = append(blocks, block.String())
	}
	return blocks
}
