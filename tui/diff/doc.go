// Package diff owns what changes look like: it reads patches, finds what
// differs between two texts, and lays both out, in one column or side by side.
//
// Texts are clean before they come here (transcript.Clean, or transcript.Reveal
// where a person decides on them), and nothing of a patch is left out: a line that
// is no patch shows as it is. The work is bounded, whatever the texts are. It must
// not know themes, Bubble Tea or the protocol.
package diff
