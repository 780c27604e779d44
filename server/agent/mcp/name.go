package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the length of a name that all providers take.
const maxName = 64

// toolName returns the name of a tool for the model: mcp__SERVER__TOOL, with only the characters
// that providers take. A name that had to be changed or cut ends with a hash of the full one.
func toolName(server, tool string) string {
	full := "mcp__" + server + "__" + tool
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, full)
	if name == full && len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(full))
	hash := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxName-len(hash))] + hash
}
