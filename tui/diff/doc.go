// Package diff parses patches, compares texts, and lays out both, in one column or side by side.
//
// Callers pass clean text: from transcript.Clean, or from transcript.Reveal if a user decides on
// it. No part of a patch is omitted: lines that are not valid in a patch are kept as notes. Work is
// bounded for any input. The package must not know themes, Bubble Tea or the protocol.
package diff
