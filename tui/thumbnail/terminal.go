package thumbnail

// Colours is the number of colours of a terminal.
type Colours int

// The numbers of colours. Thumbnails need 256, placeholders all.
const (
	UnknownColours Colours = iota
	FewColours             // at most sixteen
	ManyColours            // 256
	AllColours             // 24 bits
)

// terminal is what is known of a terminal.
type terminal struct {
	colours      Colours
	asked        bool // the query was sent
	answered     bool // the query has all answers that it gets in time
	graphics     bool // the terminal has the graphics protocol of kitty
	placeholders bool // it is one that is known to draw placeholders
}

// method returns how the terminal draws images in a mode.
func (t *terminal) method(mode Mode) Method {
	switch {
	case mode == Off || t.colours == FewColours:
		return AsText
	case t.colours == UnknownColours:
		return Undecided
	case mode == Blocks || t.colours != AllColours:
		return HalfBlocks
	case mode == UseKitty || t.graphics && t.placeholders:
		return Kitty
	case !t.answered:
		return Undecided
	}
	return HalfBlocks
}
